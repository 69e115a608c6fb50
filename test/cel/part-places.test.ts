/** Where the parts of an expression stand: what is cut out of the text must be the part, to the letter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Explanation, explain } from "../../src/cel/explain.js";
import { unparse } from "../../src/cel/index.js";
import { parserOptions } from "../../src/cel/macros/macro-sets.js";
import { parse } from "../../src/cel/parser/index.js";

const OPTIONS = parserOptions("kubernetes", "1.37", undefined);

function parsed(source: string) {
  const result = parse(source, OPTIONS);
  assert.ok(result.ok, source);
  return result.parsed;
}

const explained = (source: string): Explanation => explain(parsed(source), new Map());

const allParts = (whole: Explanation): Explanation[] => [whole, ...whole.parts.flatMap(allParts)];

/** The stretches of the parts, in order, parents first. */
function stretches(source: string): readonly (string | undefined)[] {
  return allParts(explained(source)).map(({ place }) => place && source.slice(place.from, place.to));
}

test("operators take their operands with the parentheses around them, and no part has its own", () => {
  assert.deepEqual(stretches("(a + b) * ( (c) )  > 1"), [
    "(a + b) * ( (c) )  > 1",
    "(a + b) * ( (c) )",
    "a + b",
    "a",
    "b",
    "c",
  ]);
  assert.deepEqual(stretches("!(a || (b && c)) ? .a : b"), [
    "!(a || (b && c)) ? .a : b",
    "!(a || (b && c))",
    "a || (b && c)",
    "a",
    "b && c",
    "b",
    "c",
    ".a",
    "b",
  ]);
});

test("chains, calls and brackets end where they close", () => {
  assert.deepEqual(stretches("(a).b.?c[?(b)].`x-y`"), [
    "(a).b.?c[?(b)].`x-y`",
    "(a).b.?c[?(b)]",
    "(a).b.?c",
    "(a).b",
    "a",
    "b",
  ]);
  assert.deepEqual(stretches("size( (a) ) in [b, {c: f}]"), [
    "size( (a) ) in [b, {c: f}]",
    "size( (a) )",
    "a",
    "[b, {c: f}]",
    "b",
    "{c: f}",
    "c",
    "f",
  ]);
});

test("macros stand as they were written, and comments and lines between change nothing", () => {
  assert.deepEqual(stretches("a.all(x,\n  x.b // (why)\n  > 1) && has(a.b)"), [
    "a.all(x,\n  x.b // (why)\n  > 1) && has(a.b)",
    "a.all(x,\n  x.b // (why)\n  > 1)",
    "a",
    "x",
    "x.b // (why)\n  > 1",
    "x.b",
    "x",
    "has(a.b)",
    "a",
  ]);
});

test("places count as strings do, beyond characters of two units too", () => {
  assert.deepEqual(stretches("'😀' + a == b"), ["'😀' + a == b", "'😀' + a", "a", "b"]);
});

test("whatever is cut out means the part, in expressions of every kind", () => {
  const sources = [
    "object.spec.containers.filter(c, !c.image.startsWith('x/')).map(c, c.name).exists(n, n in ['a', \"b\"])",
    "[1, -2, -(3), - -4].exists_one(i, i == -a) || -1.5 < b - -2",
    "cel.bind(v, a.b, v + v) == url('https://x/').getHost()",
    "a ? (b ? c : f) : [?a.?b, ?optional.none()].size() > 2 ? b'x' == a : r'\\d' == c",
    "{?'k': a.?b, 'l': (b)}.l[0][a] % 2 == 1 && true && (a || b) && !!!c",
    "a.transformMap(k, v, k + v).all(k, v, v.matches('^(x|y)$'))",
    "'%s'.format([a]).split(',')[-1 + size(b)] != null",
    "type(a) == int && duration('1h') < timestamp(a).getSeconds()",
    "Object{spec: Object.spec{replicas: a + 1}} == Object{}",
  ];
  for (const source of sources) {
    for (const { text, place } of allParts(explained(source))) {
      assert.ok(place, `${text} of ${source}`);
      const stretch = source.slice(place.from, place.to);
      const again = parsed(stretch);
      assert.equal(unparse(again.expr, again.macroCalls), text, source);
    }
  }
});
