import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  columnOfUnit,
  linesOf,
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
    for (const column of [1, 2, 3, 4, 5, 6]) assert.equal(columnOfUnit(line, unitOfColumn(line, column)), column);
  });

  test("half a character counts as one, and ends nothing", () => {
    assert.equal(unitOfColumn("\ud83dx", 2), 1);
    assert.equal(columnOfUnit("\ud83dx", 2), 3);
  });

  test("a mistake without an end is a word, one with an end goes that far", () => {
    const under = (line: string, column: number, end?: number) => {
      const { from, to } = stretchOf(line, column, end);
      return line.slice(from, to);
    };
    assert.equal(under("  mesage: x", 3), "mesage");
    assert.equal(under("😀 ключ: x", 3), "ключ");
    assert.equal(under("a == b", 3), "=");
    assert.equal(under("a == b", 3, 5), "==");
    assert.equal(under("abc", 2, 2), "b");
  });

  test("of a call, whose place is its parenthesis, the name is underlined", () => {
    assert.deepEqual(stretchOf("name.startWith('a')", 15), { from: 5, to: 14 });
    assert.deepEqual(stretchOf("name.startWith('a')", 15, 16), { from: 5, to: 14 });
    assert.deepEqual(stretchOf("a && (b)", 6), { from: 5, to: 6 });
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
