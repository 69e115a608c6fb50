import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { excerptOf } from "../../../src/config/documents/excerpt.js";

/** The line and the mark below it, as they are printed. */
function shown(text: string, column: number, endColumn?: number, line = 7): string[] {
  const excerpt = excerptOf(text, { line, column, ...(endColumn !== undefined && { endColumn }) });
  assert.ok(excerpt);
  return [`${excerpt.gutter}${excerpt.text}`, `${excerpt.blank}${excerpt.mark}`];
}

describe("an excerpt", () => {
  test("marks what is wrong in its line", () => {
    assert.deepEqual(shown("  polcy: x", 3, 8), [" 7 |   polcy: x", "   |   ^^^^^"]);
    assert.deepEqual(shown("a: b", 4, 5, 1234), [" 1234 | a: b", "      |    ^"]);
  });

  test("marks the word that begins there when its end is not known, and one character at least", () => {
    assert.deepEqual(shown("  poli_cy-1: x", 3)[1], "   |   ^^^^^^^^^");
    assert.deepEqual(shown("a: {", 4)[1], "   |    ^");
    assert.deepEqual(shown("a:", 3)[1], "   |   ^");
    assert.deepEqual(shown("", 1)[1], "   | ^");
  });

  test("keeps tabs, so that the mark stands below its place whatever their width", () => {
    assert.deepEqual(shown("\ta:\tb", 5, 6), [" 7 | \ta:\tb", "   | \t  \t^"]);
  });

  test("counts characters as wide as they are: of East Asia, pictures, and marks on letters", () => {
    assert.equal(shown("日本: x", 5, 6)[1], "   |       ^");
    assert.equal(shown("日本: x", 1, 3)[1], "   | ^^^^");
    assert.equal(shown("e\u0301: x", 5, 6)[1], "   |    ^");
    assert.equal(shown("👩\u200d👧: x", 6, 7)[1], "   |     ^");
  });

  test("shows what a terminal would obey", () => {
    assert.deepEqual(shown("\u001b[31mx\u0007\u007f\u202e", 6, 7), [" 7 | ␛[31mx␇␡\ufffd", "   |      ^"]);
  });

  test("cuts a long line around the mark, which is always below its place", () => {
    const line = `${"a".repeat(300)}X${"b".repeat(300)}`;
    for (const column of [1, 50, 301, 590, 601]) {
      const [text = "", mark = ""] = shown(line, column, column + 1);
      assert.ok(text.length <= 110, text);
      assert.equal(text[mark.indexOf("^")], line[column - 1], `column ${column}`);
    }
    assert.ok(shown(line, 301, 302)[0]?.includes("…a") && shown(line, 301, 302)[0]?.endsWith("b…"));
  });

  test("marks the name of a call, which counts as standing where its parenthesis is", () => {
    assert.deepEqual(shown("a.startWith(b)", 12, 13)[1], "   |   ^^^^^^^^^");
    assert.deepEqual(shown("a && (b", 6, 7)[1], "   |      ^");
  });

  test("is not made of a line that nobody has written by hand, and of a place behind a line of its end", () => {
    assert.equal(excerptOf("x".repeat(100_000), { line: 1, column: 5 }), undefined);
    assert.deepEqual(shown("ab", 9, 12)[1], "   |   ^");
  });
});
