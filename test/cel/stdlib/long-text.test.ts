import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LONG_TEXT } from "../../../src/cel/stdlib/long-text.js";
import {
  join,
  lowerAscii,
  quote,
  replace,
  reverse,
  split,
  trim,
  upperAscii,
} from "../../../src/cel/stdlib/string-edits.js";
import { charAt } from "../../../src/cel/stdlib/string-positions.js";
import { Interruption } from "../../../src/cel/values/interruption.js";
import { pick, random } from "../../fuzz/random.js";

/** Characters that texts are made of: of one byte, two, and two units, halves of those, what has escapes, what has another case. */
const ALPHABETS: readonly (readonly string[])[] = [
  ["a", "b"],
  ["a", "A", "z", "Z", "[", "`", "{", "@", '"', "\\", "\n", "\u0007", " "],
  ["a", "A", "ä", "Ä", "ß", "\u0130", "\u212a"],
  ["a", "\u{1f600}", "\ud83d", "\ude00", "é"],
];
const LENGTH = LONG_TEXT + 500;

const textOf = (seed: number): string => {
  const next = random(seed);
  const alphabet = ALPHABETS[seed % ALPHABETS.length] ?? [];
  return Array.from({ length: LENGTH }, () => pick(next, alphabet)).join("");
};

/** What the functions do, without a thought of how long that takes. */
const plain = {
  shift: (text: string, letters: RegExp, to: (letter: string) => string) => text.replace(letters, to),
  replace(text: string, from: string, to: string, count: number): string {
    const pieces = from === "" ? Array.from(text) : text.split(from);
    if (from === "") {
      const places = Math.min(count, pieces.length + 1);
      return (
        pieces.map((piece, index) => (index < places ? to + piece : piece)).join("") +
        (places > pieces.length ? to : "")
      );
    }
    return pieces.map((piece, index) => (index === 0 ? piece : (index <= count ? to : from) + piece)).join("");
  },
  split(text: string, separator: string, count: number): string[] {
    const pieces = separator === "" ? Array.from(text) : text.split(separator);
    if (pieces.length <= count) return pieces;
    return [...pieces.slice(0, count - 1), pieces.slice(count - 1).join(separator)];
  },
};

describe("long texts", () => {
  for (let seed = 0; seed < 12; seed++) {
    const text = textOf(seed);
    test(`are edited as short ones are (${seed})`, () => {
      assert.equal(
        lowerAscii(text),
        plain.shift(text, /[A-Z]/g, (letter) => letter.toLowerCase()),
      );
      assert.equal(
        upperAscii(text),
        plain.shift(text, /[a-z]/g, (letter) => letter.toUpperCase()),
      );
      assert.equal(reverse(text), Array.from(text).reverse().join(""));
      const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\u0007": "\\a" };
      assert.equal(quote(text), `"${Array.from(text, (character) => escapes[character] ?? character).join("")}"`);
      for (const position of [0, 1, 700, 3_000]) assert.equal(charAt(text, position), Array.from(text)[position]);
      assert.equal(charAt(text, Array.from(text).length), "");
    });
    test(`are cut and put together as short ones are (${seed})`, () => {
      for (const from of ["", "a", "aa", "aba", "ä", "\u{1f600}", "\ude00", '"', "baabbaab", "aabbaabab", "zz"])
        for (const count of [1, 2, 17, 1_500, LENGTH * 2, -1]) {
          const most = count < 0 ? Number.POSITIVE_INFINITY : count;
          const context = `${JSON.stringify(from)} ${count}`;
          for (const to of ["", "c", "ä", "\u{1f600}b"])
            assert.equal(replace(text, from, to, count), plain.replace(text, from, to, most), context);
          assert.deepEqual(split(text, from, count), plain.split(text, from, most), context);
        }
    });
  }

  test("lose all of Unicode's white space on either side", () => {
    const blanks = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter((character) =>
      /\p{White_Space}/u.test(character),
    );
    assert.equal(blanks.length, 25);
    for (let code = 0; code < 0x1_0000; code++) {
      const character = String.fromCharCode(code);
      assert.equal(trim(`${character}a${character}`), blanks.includes(character) ? "a" : `${character}a${character}`);
    }
  });

  test("are joined of many as of few", () => {
    const texts = Array.from({ length: 300_000 }, (_, index) => `${index % 7}`);
    for (const count of [511, 512, 513, 1_024, 1_025, 300_000])
      for (const separator of ["", ", ", "ä"])
        assert.equal(join(texts.slice(0, count), separator), texts.slice(0, count).join(separator));
  });

  test("do not become too long", () => {
    const text = "a".repeat(1_000_000);
    assert.throws(() => replace(text, "a", "123456789"), Interruption);
    assert.throws(() => replace(text, "", "12345678"), Interruption);
    assert.equal((replace(text, "a", "12345678") as string).length, 8_000_000);
  });
});
