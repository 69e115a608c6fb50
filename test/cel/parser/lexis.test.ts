import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Uint } from "../../../src/cel/values/uint.js";
import type { Value } from "../../../src/cel/values/value.js";
import { issuesOf, parsed } from "../support/front-end.js";

function literal(expr: string): Value {
  const { expr: node } = parsed(expr);
  assert.equal(node.kind, "literal", expr);
  return node.kind === "literal" ? node.value : null;
}

describe("numbers", () => {
  test("are decimal, hexadecimal, unsigned or double", () => {
    assert.equal(literal("010"), 10);
    assert.equal(literal("0x1F"), 31);
    assert.equal(literal("-0x10"), -16);
    assert.deepEqual(literal("0xFFu"), new Uint(255));
    assert.deepEqual(literal("18446744073709551615U"), new Uint(18446744073709551615n));
    assert.equal(literal(".5"), 0.5);
    assert.deepEqual(literal("1e3"), Object(1000));
    assert.deepEqual(literal("-0.0"), Object(-0));
    assert.equal(literal("9223372036854775807"), 9223372036854775807n);
    assert.equal(literal("- 9223372036854775808"), -9223372036854775808n);
  });

  test("out of range are errors at the number", () => {
    assert.deepEqual(issuesOf("9223372036854775808"), ["1:1 invalid int literal"]);
    assert.deepEqual(issuesOf("-(9223372036854775808)"), ["1:3 invalid int literal"]);
    assert.deepEqual(issuesOf("18446744073709551616u"), ["1:1 invalid uint literal"]);
    assert.deepEqual(issuesOf("1 + 1e999"), ["1:5 invalid double literal"]);
  });
});

describe("strings and bytes", () => {
  test("process escapes unless raw", () => {
    assert.equal(literal("'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\\`'"), "\u0007\b\f\n\r\t\v\\'\"?`");
    assert.equal(literal("'\\x41\\u00e9\\U0001F600\\101'"), "Aé😀A");
    assert.equal(literal("r'\\d'"), "\\d");
    assert.equal(literal("'''it''s'''"), "it''s");
    assert.equal(literal('"""a\n"b" c"""'), 'a\n"b" c');
    assert.equal(literal("R'''\\'''"), "\\");
    assert.equal(literal("''''''"), "");
  });

  test("turn CR LF and CR into LF", () => {
    assert.equal(literal("'''a\r\nb\rc'''"), "a\nb\nc");
    assert.equal(literal("r'''a\r\nb'''"), "a\nb");
  });

  test("of bytes hold octets", () => {
    assert.deepEqual(literal("b'\\xff\\101é'"), Uint8Array.of(0xff, 0x41, 0xc3, 0xa9));
    assert.deepEqual(literal("br'\\x'"), Uint8Array.of(0x5c, 0x78));
    assert.deepEqual(literal("b'\\377\\000'"), Uint8Array.of(0xff, 0));
  });

  test("with impossible escapes are errors", () => {
    assert.deepEqual(issuesOf("'\\ud800'"), ["1:1 invalid unicode code point"]);
    assert.deepEqual(issuesOf("'\\U00110000'"), ["1:1 invalid unicode code point"]);
    assert.deepEqual(issuesOf("b'\\u00e9'"), ["1:1 unable to unescape string"]);
    assert.deepEqual(issuesOf("'\\400'"), [
      "1:1 Syntax error: token recognition error at: ''\\4'",
      "1:6 Syntax error: token recognition error at: '''",
    ]);
  });
});

describe("white space, comments and names", () => {
  test("separate tokens and are otherwise ignored", () => {
    const { expr } = parsed("\t1\f+ // one\r\n2//two");
    assert.equal(expr.kind, "call");
  });

  test("reserved words are names after a dot only", () => {
    assert.deepEqual(issuesOf("object.namespace.if"), []);
    assert.deepEqual(issuesOf("if + 1"), ["1:1 reserved identifier: if"]);
    assert.deepEqual(issuesOf("1 + .while"), ["1:5 reserved identifier: while"]);
    assert.deepEqual(issuesOf("loop(1)"), ["1:1 reserved identifier: loop"]);
  });

  test("columns count code points", () => {
    assert.deepEqual(issuesOf("'😀é' + x"), ["1:8 undeclared reference to 'x' (in container '')"]);
  });
});
