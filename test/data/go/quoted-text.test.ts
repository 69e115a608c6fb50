import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quoted } from "../../../src/data/go/quoted-text.js";

/** Longer than what is quoted by a pattern. */
const TIMES = 4_000;

describe("a text in quotes", () => {
  test("has the escapes that Go writes", () => {
    assert.equal(quoted("a b"), '"a b"');
    assert.equal(quoted('a"\\\u0007\b\f\n\r\t\v'), '"a\\"\\\\\\a\\b\\f\\n\\r\\t\\v"');
    assert.equal(quoted("\u0001\u007f\u0085\u00a0\ue000\u{e0001}"), '"\\x01\\x7f\\u0085\\u00a0\\ue000\\U000e0001"');
    assert.equal(quoted("é世😀"), '"é世😀"');
    assert.equal(quoted("\ud800"), '"\\ud800"');
  });

  for (const [name, piece] of [
    ["of ASCII", "ab c"],
    ["with quotes", 'a"b'],
    ["with controls", "a\u0000\u0001\u001f\n\u007f"],
    ["beyond ASCII, all printed", "é世"],
    ["beyond ASCII, not printed", "\u0085\ue000\u200b"],
    ["with both", 'é\ue000a"\u2028'],
    ["of pairs", "😀"],
    ["of pairs that are not printed", "\u{e0001}x\u{10ffff}"],
    ["of halves of pairs", "\ud800a\udc00"],
    ["of all letters", Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join("")],
  ] as const)
    test(`long ones ${name}: as the pieces of them`, () => {
      const inner = quoted(piece).slice(1, -1);
      assert.equal(quoted(piece.repeat(TIMES)), `"${inner.repeat(TIMES)}"`);
    });
});
