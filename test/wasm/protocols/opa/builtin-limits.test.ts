/** Operands that a hostile object may bring: builtins are the host's code, which nothing else ends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { builtinsFor } from "../../../../src/wasm/protocols/opa/builtins/index.js";
import { readRego } from "../../../../src/wasm/protocols/opa/read-rego.js";
import { cpuMilliseconds } from "../../../support/cpu-time.js";

const KIB = 1024;
const many = (text: string, count: number): string => text.repeat(count);

/** Builtins whose work ends as it does when the time of a call is up. */
function limited(most = 5_000_000) {
  let left = most;
  const spent = new Error("the budget is spent");
  const work = (units: number): void => {
    left -= units;
    if (left < 0) throw spent;
  };
  return builtinsFor({ trace: () => {}, now: () => 0, work });
}

const copies = (count: number, path: string) =>
  Array.from({ length: count }, (_, i) => ({ op: "copy", from: "", path: path + i }));
const nested = (depth: number): unknown => JSON.parse(`${many('{"a":', depth)}1${many("}", depth)}`);

describe("a builtin that is asked with too much fails:", () => {
  const cases: readonly (readonly [what: string, expected: RegExp, name: string, ...args: unknown[]])[] = [
    ["an exponent", /could not parse/, "units.parse", "1e999999"],
    ["an exponent below zero", /could not parse/, "units.parse_bytes", "1e-999999"],
    ["digits of an amount", /longer than 4096/, "units.parse", many("1", 64 * KIB)],
    ["digits of a version", /longer than 4096/, "semver.compare", `1.0.0-${many("9", 64 * KIB)}`, "1.0.0"],
    ["parts of a version", /longer than 4096/, "semver.is_valid", `1.0.0-${many("a.", 64 * KIB)}a`],
    ["parts of a duration", /longer than 4096/, "time.parse_duration_ns", many("1d", 64 * KIB)],
    ["digits of a time", /longer than 4096/, "time.parse_rfc3339_ns", `2020-01-01T00:00:00.${many("1", 64 * KIB)}Z`],
    ["the name of a zone", /longer than 4096/, "time.clock", [0, many("A/", 64 * KIB)]],
    ["parameters of a query", /more than 10000 parameters/, "urlquery.decode_object", many("a=1&", 10_001)],
    ["characters of a pattern", /longer than 32768/, "regex.split", many("\\pL", 16 * KIB), "a"],
    ["patterns of a template", /longer than 32768/, "regex.template_match", many("<a>", 16 * KIB), "a", "<", ">"],
    [
      "a pattern and a text",
      /too large for so long a text/,
      "regex.find_n",
      "(a?){500}a{500}",
      many("a", 512 * KIB),
      -1,
    ],
    [
      "lines that are far indented",
      /longer than 16777216/,
      "yaml.marshal",
      readRego(`${many('{"a":', 490)}${JSON.stringify(many("x\n", 64 * KIB))}${many("}", 490)}`),
    ],
    ["copies of copies", /makes the document too large/, "json.patch", {}, copies(60, "/a")],
    ["copies of a text", /makes the document too large/, "json.patch", { x: many("x", 4 * KIB) }, copies(60, "/a")],
    [
      "levels",
      /nests the document too deeply/,
      "json.patch",
      nested(400),
      [{ op: "copy", from: "", path: many("/a", 400) }],
    ],
    [
      "levels of a path",
      /nests the document too deeply|leads nowhere/,
      "json.patch",
      nested(490),
      [{ op: "add", path: many("/a", 600), value: 1 }],
    ],
  ];
  for (const [what, expected, name, ...args] of cases) {
    test(`${name}, ${what}`, () => {
      assert.throws(() => limited(Number.POSITIVE_INFINITY)[name]?.(...args), expected);
    });
  }
});

describe("a builtin that takes long tells of its work, which ends it:", () => {
  const cases: readonly (readonly [name: string, ...args: unknown[]])[] = [
    ["regex.find_n", "(a|b)*?", many("ab", 512 * KIB), -1],
    ["regex.split", "", many("x", 512 * KIB)],
    ["json.patch", Array(20_000).fill(1), Array.from({ length: 5_000 }, () => ({ op: "add", path: "/0", value: 1 }))],
    ["json.patch", nested(400), Array.from({ length: 5_000 }, () => ({ op: "test", path: many("/a", 400), value: 1 }))],
    [
      "json.patch",
      Array(1_000).fill(1),
      Array.from({ length: 5_000 }, () => ({ op: "test", path: "", value: Array(1_000).fill(1) })),
    ],
  ];
  for (const [name, ...args] of cases) {
    test(name, () => assert.throws(() => limited()[name]?.(...args), /the budget is spent/));
  }
});

test("an integer of more digits than any number has is not read", () => {
  assert.equal(typeof readRego(many("1", 4_096)), "bigint");
  assert.throws(() => readRego(many("1", 4_097)), /more than 4096 digits/);
  assert.throws(() => readRego(`{1, ${many("1", 4_097)}}`), /more than 4096 digits/);
});

test("values are read 500 levels deep, sets among them, and printed as deep", () => {
  const deep = (levels: number): string => many("{", levels) + 1 + many("}", levels);
  assert.ok(readRego(deep(499)));
  assert.throws(() => readRego(deep(100_000)), /nested too deeply/);
  let value: unknown = 1;
  for (let i = 0; i < 100_000; i++) value = [value];
  assert.throws(() => limited().sprintf?.("%v", [value]), /nested too deeply/);
});

test("texts are held against many prefixes and suffixes in less than the square of their number", async () => {
  const texts = (letter: string) => Array.from({ length: 50_000 }, (_, i) => `${letter}${i}${letter}`);
  for (const name of ["strings.any_prefix_match", "strings.any_suffix_match"]) {
    const took = await cpuMilliseconds(() => {
      assert.equal(limited()[name]?.(texts("q"), texts("r")), false);
      assert.equal(limited()[name]?.(texts("q"), [...texts("r"), "q49999q"]), true);
    });
    // Each against each takes half a minute.
    assert.ok(took < 10_000, `${took} ms`);
  }
});

test("a format with brackets that never close is read once", async () => {
  const took = await cpuMilliseconds(() =>
    assert.ok(String(limited().sprintf?.(many("%[d", 256 * KIB), [1])).startsWith("%!d(BADINDEX)%!d")),
  );
  assert.ok(took < 10_000, `${took} ms`);
});
