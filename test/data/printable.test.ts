import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { escaped, escapedLines, isPrintable, printable, printableLines } from "../../src/data/printable.js";

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index));
/** C0, DEL and C1 (ECMA-48), bidirectional controls (UAX 9), ends of lines (UAX 14), what is invisible, halves of characters, and what is none. */
const HARMFUL = [
  ...[...range(0, 0x1f), ...range(0x7f, 0x9f), ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
  ..."\u061c\u200e\u200f\u2028\u2029\ufeff\u00ad\u200b\u2060\ufff9\ufffe\uffff",
  ...["\ud800", "\udbff", "\udc00", "\udfff"],
];
/** Letters, marks, joiners of letters and pictures, blanks. */
const HARMLESS = ["Größe", "日本", "🚀", "👩\u200d👧", "می\u200cخواهم", "e\u0301", "\u00a0", "\ufffd", "𝒳", "~"];

describe("what a terminal would obey, or would not show", () => {
  for (const [name, write] of Object.entries({ printable, escaped, escapedLines, printableLines })) {
    test(`stands as an escape, everything else as it is: ${name}`, () => {
      for (const character of HARMFUL) {
        const written = write(`a${character}b`);
        const stays = name.endsWith("Lines") && /[\n\t]/.test(character);
        assert.doesNotMatch(
          stays ? written.replace(character, "") : written,
          /[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\ufeff]/u,
        );
        assert.match(written, /^a[\s\S]+b$/);
        assert.equal(isPrintable(`a${character}b`), false);
      }
      for (const text of HARMLESS) assert.equal(write(text), text);
      assert.ok(HARMLESS.every(isPrintable));
    });
  }

  test("is a blank where it ends a line that is to be one", () => {
    assert.equal(printable("a\u001b[2Jb\u0007\r\n"), "a\\u001b[2Jb\\u0007 ");
    assert.equal(printable("x\u202egnp.exe"), "x\\u202egnp.exe");
    for (const end of ["\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\t"])
      assert.equal(printable(`a${end}pass: 1`), "a pass: 1");
  });

  test("is the same JSON where it stands in JSON", () => {
    const value = { [HARMFUL.join("")]: [HARMFUL.join("")] };
    const written = escaped(JSON.stringify(value));
    assert.equal(isPrintable(written), true);
    assert.deepEqual(JSON.parse(written), value);
  });
});

test("of several lines none but the first begins where our own lines do, and they keep their shape", () => {
  assert.equal(printableLines("Error: a\nb:\n  c\n\nd"), "Error: a\n  b:\n    c\n\n  d");
  assert.equal(printableLines("Error: a\n | b\n | ^"), "Error: a\n | b\n | ^");
  assert.equal(printableLines("a\n\tb\u001b"), "a\n\tb\\u001b");
});
