import assert from "node:assert/strict";
import { test } from "node:test";
import { xmlEscaped, xmlLines, xmlSection } from "../../src/data/xml.js";

/** All that a document of XML 1.0 may hold (its production Char). */
const CHARACTERS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

test("whatever a text holds, what is written is XML", () => {
  for (let code = 0; code <= 0x10ffff; code += code < 0x10000 ? 1 : 0xfff) {
    const text = `a${String.fromCodePoint(code)}b`;
    for (const written of [xmlEscaped(text), xmlLines(text), xmlSection(text)]) {
      assert.match(written, CHARACTERS, `U+${code.toString(16)}`);
      assert.doesNotMatch(
        written.replace(/[\n\t]/g, ""),
        /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u,
        `U+${code.toString(16)}`,
      );
    }
    assert.doesNotMatch(xmlEscaped(text), /[<>"\n]|&(?!(?:amp|lt|gt|quot|#10);)/);
    assert.doesNotMatch(xmlLines(text), /[<>"]|&(?!(?:amp|lt|gt|quot);)/);
  }
});

test("letters stand as they are, what means something in XML as entities, and what can't be written as a question mark", () => {
  assert.equal(
    xmlEscaped(`<a b="c">&\n\t日本 🚀\u0000\u001b\ufffe\uffff\ud800x\u202e`),
    "&lt;a b=&quot;c&quot;&gt;&amp;&#10;\t日本 🚀?????x\\u202e",
  );
  assert.equal(xmlLines("a\nb & c"), "a\nb &amp; c");
  assert.equal(xmlSection("a]]>b & c"), "<![CDATA[a]]]]><![CDATA[>b & c]]>");
});
