import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compilePattern, type Pattern, PatternCache } from "../../../src/cel/pattern/pattern.js";
import { CelError } from "../../../src/cel/values/cel-error.js";
import { Interruption } from "../../../src/cel/values/interruption.js";
import { cpuMilliseconds } from "../../support/cpu-time.js";

const pattern = (source: string): Pattern => {
  const compiled = compilePattern(source);
  assert.ok(!(compiled instanceof CelError), String(compiled));
  return compiled;
};
const problem = (source: string): string | undefined => {
  const compiled = compilePattern(source);
  return compiled instanceof CelError ? compiled.message.replace(/^error parsing regexp: /, "") : undefined;
};
const all = (source: string, text: string): unknown => {
  const matches = pattern(source).matches(text, Number.POSITIVE_INFINITY, false);
  return matches instanceof CelError ? matches : matches.map(({ start, end }) => text.slice(start, end));
};

describe("a bad pattern has Go's error text", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["(", "missing closing ): `(`"],
    ["a)", "unexpected ): `a)`"],
    ["a[b", "missing closing ]: `[b`"],
    ["\\Z", "invalid escape sequence: `\\Z`"],
    ["\\8", "invalid escape sequence: `\\8`"],
    ["\\u0041", "invalid escape sequence: `\\u`"],
    ["(?=x)", "invalid or unsupported Perl syntax: `(?=`"],
    ["(?x)", "invalid or unsupported Perl syntax: `(?x`"],
    ["(?<=x)", "invalid named capture: `(?<=x)`"],
    ["*", "missing argument to repetition operator: `*`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["a*+", "invalid nested repetition operator: `*+`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["(a{100}){11}", "invalid repeat count: `{11}`"],
    ["a{2,1}", "invalid repeat count: `{2,1}`"],
    ["[z-a]", "invalid character class range: `z-a`"],
    ["[[:foo:]]", "invalid character class range: `[:foo:]`"],
    ["\\p{Foo}", "invalid character class range: `\\p{Foo}`"],
    ["\\p{Lowercase}", "invalid character class range: `\\p{Lowercase}`"],
    ["\\p{Old_Italic}", "invalid character class range: `\\p{Old_Italic}`"],
    ["\\p{greek}(", "missing closing ): `\\p{greek}(`"],
    ["(?<n>a)(?<n>b)[", "missing closing ]: `[`"],
    ["a\\", "trailing backslash at end of expression: ``"],
    ["(".repeat(1001) + ")".repeat(1001), "expression nests too deeply"],
    ["x{1000}".repeat(200), "expression too large"],
  ];
  for (const [source, text] of rows) test(source.slice(0, 30), () => assert.equal(problem(source), text));
});

describe("a pattern", () => {
  test("knows Unicode classes in Go's spellings", () => {
    for (const name of ["greek", " Greek ", "GREEK"]) assert.ok(pattern(`\\p{${name}}`).test("α"), name);
    assert.ok(pattern("\\p{Letter}\\pl").test("ab"));
    assert.ok(pattern("^[\\p{ascii}]+$").test("az") && !pattern("\\p{ASCII}").test("é"));
    assert.ok(pattern("\\P{^Lu}").test("A") && !pattern("\\P{Lu}").test("A"));
  });

  test("may give two groups one name", () => {
    assert.deepEqual(pattern("(?<n>a)(?P<n>b)").groupCount, 2);
  });

  test("matches code points, and folds case as RE2 does", () => {
    assert.deepEqual(all(".", "a😀"), ["a", "😀"]);
    assert.ok(pattern("(?i)^k$").test("\u212a"));
    assert.ok(!pattern("a$").test("a\n"));
    assert.ok(!pattern("\\s").test("\u00a0\v"));
  });

  test("passes over an empty match behind another", () => {
    assert.deepEqual(all("a*", "baaac"), ["", "aaa", ""]);
    assert.deepEqual(all("(|a)*", "aa"), ["", "", ""]);
    assert.deepEqual(all("", "é😀"), ["", "", ""]);
  });

  test("takes time linear in the text", async () => {
    const text = "a".repeat(20_000);
    const took = await cpuMilliseconds(() => {
      for (const source of ["(a+)+$", "^(a|a)*$", "^(a*)*$", "(.*)*(.*)*c", "((a{1,10}){1,10}){1,10}$"]) {
        assert.equal(pattern(source).test(`${text}b`), false);
      }
    });
    assert.ok(took < 10_000, `${took} ms`);
  });

  test("stops finding matches when that takes seconds", () => {
    let now = 0;
    const slow = compilePattern("a*b|", () => now++ * 3000) as Pattern;
    assert.throws(
      () => slow.matches("a".repeat(20_000), Number.POSITIVE_INFINITY, false),
      (thrown) => thrown instanceof Interruption && thrown.reason === "size",
    );
    assert.ok(Array.isArray(slow.matches("a".repeat(100), Number.POSITIVE_INFINITY, false)));
  });
});

/** What ends an evaluation. */
const isTooLarge = (thrown: unknown): boolean => thrown instanceof Interruption && thrown.reason === "size";

describe("patterns and texts out of proportion", () => {
  test("a pattern from data that would take long to compile is refused, a constant one is not", () => {
    for (const source of ["\\pL".repeat(700), "[\\pN]".repeat(700), "a{1000}".repeat(13), "a".repeat(20_000)]) {
      assert.throws(() => new PatternCache().get(source), isTooLarge);
      assert.ok(pattern(source).source === source);
    }
  });

  test("a search whose time may be seconds is refused, whichever way it is made", () => {
    const long = "ab".repeat(500_000);
    assert.throws(() => pattern("(a?){500}[^ab]").test(long), isTooLarge);
    assert.throws(() => pattern("b[a-z]*").find(long), isTooLarge);
    assert.throws(() => pattern("b[a-z]*").matches(long, 1, false), isTooLarge);
    assert.ok(pattern("b[a-z]*").test(long));
  });

  test("in a long text without a match nothing is found, at the price of a test", () => {
    const long = "a".repeat(1_000_000);
    assert.equal(pattern("[b-z]+").find(long), undefined);
    assert.deepEqual(pattern("[b-z]+").matches(long, 10, false), []);
  });
});

describe("the cache of patterns", () => {
  test("gives the same pattern again, and the same error", () => {
    const cache = new PatternCache();
    assert.equal(cache.get("a+"), cache.get("a+"));
    assert.equal(cache.get("("), cache.get("("));
  });

  test("is bounded in number and in size", () => {
    const cache = new PatternCache();
    const first = cache.get("first");
    for (let i = 0; i < 600; i++) cache.get(`a${i}`);
    assert.notEqual(cache.get("first"), first);
    const again = cache.get("first");
    for (let i = 0; i < 7; i++) cache.get(`${"a{1000}".repeat(9)}${i}`);
    assert.notEqual(cache.get("first"), again);
  });
});
