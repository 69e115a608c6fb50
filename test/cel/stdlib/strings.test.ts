import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate } from "../support/evaluate.js";

const rows = (flavour: "kubernetes" | "standard", table: readonly (readonly [string, unknown])[]): void => {
  for (const [source, result] of table) {
    const expected = typeof result === "number" ? { int: String(result) } : result;
    test(source, () => assert.deepEqual(evaluate(source, flavour), expected));
  }
};
const text = (value: string) => ({ string: value });
const texts = (...values: readonly string[]) => ({ list: values.map(text) });

describe("functions on strings count code points", () => {
  rows("kubernetes", [
    ["'é😀x'.indexOf('x')", 2],
    ["'é😀x'.lastIndexOf('x')", 2],
    ["'é😀x'.charAt(1)", text("😀")],
    ["'é😀x'.charAt(3)", text("")],
    ["'é😀x'.charAt(4)", "index out of range: 4"],
    ["'é😀x'.substring(1, 2)", text("😀")],
    ["'é😀x'.size()", 3],
    ["'hello'.indexOf('', 9)", 5],
    ["'hello'.indexOf('l', 9)", -1],
    ["'hello'.indexOf('', -1)", "index out of range: -1"],
    ["'hello'.lastIndexOf('', 9)", 5],
    ["'hello'.lastIndexOf('l', 2)", 2],
    ["'hello'.substring(3, 1)", "invalid substring range. start: 3, end: 1"],
    ["'hello'.substring(6)", "index out of range: 6"],
    ["'hello'.substring(9223372036854775807)", "index out of range: 9223372036854775807"],
    ["'abc'.replace('', '-')", text("-a-b-c-")],
    ["'abc'.replace('', '-', 2)", text("-a-bc")],
    ["'aaa'.replace('a', 'b', 2)", text("bba")],
    ["'😀é'.split('')", texts("😀", "é")],
    ["''.split('')", texts()],
    ["''.split(',')", texts("")],
    ["'a,b,c'.split(',', 2)", texts("a", "b,c")],
    ["'a,b,c'.split(',', 0)", texts()],
    ["'ÀBc'.lowerAscii()", text("Àbc")],
    ["'àbC'.upperAscii()", text("àBC")],
    ["'\\u00a0\\u2003x\\u0085\\u3000'.trim()", text("x")],
    ["'\\ufeffx\\u200b'.trim()", text("\ufeffx\u200b")],
    ["strings.quote('a\"\\n\\\\')", text('"a\\"\\n\\\\"')],
    ["['a', 'b'].join('-')", text("a-b")],
    ["[dyn('a'), dyn(1)].join(',')", "join: invalid input: 1"],
    ["[dyn(1)].join(',')", "no such overload: join(list, string)"],
  ]);
});

describe("format in Kubernetes", () => {
  rows("kubernetes", [
    ["'%.1f|%.2f|%.0f'.format([1234567.25, 2.675, 2.5])", text("1,234,567.2|2.67|2")],
    ["'%.2e'.format([1052.032911275])", text("1.052033×10⁰³")],
    ["'%e'.format([double('inf')])", text("     ∞")],
    ["'%s'.format([[1.5, 'a', b'x', null, {'k': 1u}]])", text('[1.500000, "a", b"x", null, {"k":1}]')],
    ["'%x %X %o %b'.format([255, 'jk', 8, -5])", text("ff 6A6B 10 -101")],
    ["'%s'.format([{10: 'a', 9: 'b', -1: 'c'}])", text('{-1:"c", 10:"a", 9:"b"}')],
    ["'%d%%'.format([5])", text("5%")],
    [
      "('' + '%d').format([dyn(1.5)])",
      "error during formatting: decimal clause can only be used on integers, was given double",
    ],
    ["('' + '%q').format([1])", 'could not parse formatting clause: unrecognized formatting clause "q"'],
    ["('' + '%d %d').format([1])", "index 1 out of range"],
    ["('' + '%d').format([1, 2])", text("1")],
    ["('' + '%').format([1])", "unexpected end of string"],
    [
      "('' + '%s').format([dyn(optional.none())])",
      "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type",
    ],
  ]);
});

describe("format outside Kubernetes", () => {
  rows("standard", [
    ["'%.3f'.format([1234.5])", text("1234.500")],
    ["'%e'.format([1052.032911275])", text("1.052033e+03")],
    ["'%s'.format([[1.5, 'a', b'x', null, {'k': 1u}]])", text("[1.5, a, x, null, {k: 1}]")],
    ["'%d'.format([1.5])", text("1.5")],
    ["'%f %e'.format([double('inf'), double('-inf')])", text("Infinity -Infinity")],
    ["'%.0f'.format([-0.0])", text("-0")],
    [
      "('' + '%.101f').format([1.0])",
      "could not parse formatting clause: error while parsing precision: precision 101 exceeds maximum allowed precision 100",
    ],
    ["'é😀x'.reverse()", text("x😀é")],
  ]);
});

describe("what a function makes of strings is bounded", () => {
  const limit = "operation cancelled: a value or pattern is too large";
  test("in size", () => {
    const long = "lists.range(9000).map(x, 'xxxxxxxxxx').join()";
    assert.equal(evaluate(`${long}.replace('x', ${long})`, "standard"), limit);
    assert.equal(evaluate(`${long}.replace('', ${long})`, "standard"), limit);
    assert.equal(evaluate(`lists.range(9000).map(x, 'x').join(${long})`, "standard"), limit);
    assert.equal(
      evaluate(`lists.range(900).map(x, '%s').join().format(lists.range(900).map(x, ${long}))`, "standard"),
      limit,
    );
    assert.equal(evaluate(`regex.replace(${long}, 'x', ${long})`, "standard"), limit);
  });
});
