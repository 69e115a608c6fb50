import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PageProblem } from "../../../../src/page/api.js";
import {
  linesOf,
  placesOf,
  startOfLine,
  stretchOf,
  unitOfColumn,
} from "../../../../src/page/browser/model/positions.js";

describe("places in a text", () => {
  test("columns count code points, the browser UTF-16 units", () => {
    const line = "a😀b😀c";
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6].map((column) => unitOfColumn(line, column)),
      [0, 1, 3, 4, 6, 7],
    );
    assert.equal(unitOfColumn(line, 99), line.length);
  });

  test("half a character counts as one, and ends nothing", () => {
    assert.equal(unitOfColumn("\ud83dx", 2), 1);
  });

  /** What is underlined for a mistake at `^`, in lines that it goes over. */
  const under = (text: string, more: Partial<PageProblem> = {}): string => {
    const before = text.slice(0, text.indexOf("^")).split("\n");
    const lines = linesOf(text.replace("^", ""));
    const place = { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
    const problem: PageProblem = { severity: "error", path: "", message: "", ...place, ...more };
    return placesOf(lines, problem)
      .map(({ index, from, to }) => (lines[index] ?? "").slice(from, to))
      .join(" / ");
  };

  test("a mistake without an end is a whole name, key, text, number or operator", () => {
    const cases: readonly (readonly [text: string, expected: string])[] = [
      ["  ^mesage: x", "mesage"],
      ["😀 ^ключ: x", "ключ"],
      ["^a.b-c d/e: x", "a.b-c d/e"],
      ['- ^"a b": x', '"a b"'],
      ["expression: 😀 + ^_my__name_1 + c", "_my__name_1"],
      ["expression: 1 + ^my_name.other-name", "my_name"],
      ["expression: na^ïve_name", "naïve_name"],
      ["expression: a ^== b", "=="],
      ["expression: a ==^= b", "==="],
      ["expression: a ^=< b", "=<"],
      ["expression: a ^&& b", "&&"],
      ["expression: a ^| b", "|"],
      ["expression: 1 ^- b", "-"],
      ["expression: f(^'a \\' b', 'c')", "'a \\' b'"],
      ["expression: 'f(^''a b'', ''c'')'", "''a b''"],
      ['expression: "f(^\\"a b\\", c)"', '\\"a b\\"'],
      ["expression: \"f(^'', x) + ''\"", "''"],
      ['expression: "f(^\'abc"', "'abc"],
      ['expression: "(a^"', '"'],
      ["x: ^*an_chor-1", "*an_chor-1"],
      ["x: [^!tag x]", "!tag"],
      ["^\tx: 1", "\t"],
    ];
    for (const [text, expected] of cases) assert.equal(under(text), expected, text);
  });

  test("a place with an end goes that far, a sign is the whole token", () => {
    assert.equal(under("x: ^a b c", { endColumn: 9 }), "a b c");
    assert.equal(under("x: a ^== b", { endColumn: 7 }), "==");
    assert.equal(under("x: a^bc", { endColumn: 5 }), "abc");
  });

  test("of a call, whose place is its parenthesis, and of a field, whose place is its dot, the name is underlined", () => {
    assert.equal(under("x: a_1.startWith^('a')"), "startWith");
    assert.equal(under("x: startWith^('a')", { endColumn: 14 }), "startWith");
    assert.equal(under("x: a && ^(b)"), "(");
    assert.equal(under("x: a.b^.foo_bar.c"), "foo_bar");
    assert.equal(under("x: a.b^.?foo_bar.c"), "foo_bar");
    assert.equal(under("x: a.b^.`foo-bar`.c"), "`foo-bar`");
    const has = { message: "/v1, Kind=Pod: undefined field 'host-net'" };
    assert.equal(under("x: a.host-nets && ^has(a.`host-net`)", has), "`host-net`");
    assert.equal(under("x: ^has(\n a.b)", has), "has");
  });

  test("a value of several lines is underlined in each", () => {
    assert.equal(under("- x: ^|\n    a +\n\n    b\n  y: c"), "a + / b");
    assert.equal(under("x: ^>- # why\n  a\ny: b"), "a");
    assert.equal(under('x: ^"a +\n   b"\ny: "c"'), '"a + / b"');
    assert.equal(under('x: ^"a"\ny: "c"'), '"a"');
    assert.equal(under("x: ^|\ny: b"), "|");
    assert.equal(under("x: ^'a\n  b"), "'a / b");
  });

  test("a long line takes no time", () => {
    for (const filling of ["a", " ", "'", '\\"', "=", "a b"]) {
      const line = `x: ${filling.repeat(30_000)}`;
      const start = performance.now();
      for (const column of [1, 4, 20_000, line.length]) stretchOf(line, column);
      assert.ok(performance.now() - start < 1000, filling);
    }
  });

  test("what is missing at the end of a line stands behind it", () => {
    assert.deepEqual(stretchOf("abc", 9), { from: 3, to: 3 });
    assert.deepEqual(stretchOf("", 1), { from: 0, to: 0 });
  });

  test("lines begin behind their line feeds, and a line too many is the last", () => {
    const lines = linesOf("a\n😀\n\nb");
    assert.deepEqual(
      [1, 2, 3, 4, 9].map((line) => startOfLine(lines, line)),
      [0, 2, 5, 6, 6],
    );
  });
});
