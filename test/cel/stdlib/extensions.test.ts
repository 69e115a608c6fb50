import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate } from "../support/evaluate.js";

const int = (value: number | string) => ({ int: String(value) });
const double = (value: string) => ({ double: value });
const text = (value: string) => ({ string: value });

const TABLES: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  math: [
    ["math.greatest(1, 2u, 1.5)", { uint: "2" }],
    ["math.least([3.5, 1.5])", double("1.5")],
    ["math.greatest(1, 1.0)", int(1)],
    ["math.round(-2.5)", double("-3")],
    ["math.round(0.49999999999999994)", double("0")],
    ["math.trunc(-2.5)", double("-2")],
    ["math.ceil(1.2)", double("2")],
    ["math.abs(-9223372036854775808)", "integer overflow"],
    ["math.abs(-5)", int(5)],
    ["math.sign(-2.5)", double("-1")],
    ["math.sign(5u)", { uint: "1" }],
    ["math.isInf(1.0/0.0)", { bool: true }],
    ["math.isNaN(0.0/0.0)", { bool: true }],
    ["math.sqrt(16)", double("4")],
    ["math.bitAnd(6, 3)", int(2)],
    ["math.bitNot(0u)", { uint: "18446744073709551615" }],
    ["math.bitXor(-1, 1)", int(-2)],
    ["math.bitShiftLeft(1, 63)", int("-9223372036854775808")],
    ["math.bitShiftLeft(1, 64)", int(0)],
    ["math.bitShiftRight(-1, 1)", int("9223372036854775807")],
    ["math.bitShiftLeft(1, -1)", "math.bitShiftLeft() negative offset: -1"],
  ],
  base64: [
    ["base64.encode(b'hello')", text("aGVsbG8=")],
    ["base64.decode('aGVsbG8=')", { bytes: "aGVsbG8=" }],
    ["base64.decode('aGVsbG8')", { bytes: "aGVsbG8=" }],
    ["base64.decode('')", { bytes: "" }],
    ["base64.decode('@')", "illegal base64 data at input byte 0"],
    ["base64.decode('aG=VsbG8')", "illegal base64 data at input byte 2"],
  ],
  regex: [
    ["regex.replace('hello world', '(h)(.)', '\\\\2\\\\1')", text("ehllo world")],
    ["regex.replace('aaa', 'a', 'b', 2)", text("bba")],
    ["regex.replace('aaa', '(', 'b', 0)", text("aaa")],
    ["regex.replace('a', 'a', '\\\\')", "invalid replacement string: '\\' \\ not allowed at end"],
    ["regex.replace('a', 'a', '\\\\x')", "invalid replacement string: '\\x' \\ must be followed by a digit or \\"],
    ["regex.replace('a', 'a', '\\\\1')", "replacement string references group 1 but regex has only 0 group(s)"],
    ["regex.extract('hello', 'l(.)')", { optional: text("l") }],
    ["regex.extract('hello', 'x')", { optional: null }],
    ["regex.extract('ab', '(a)(b)')", 'regular expression has more than one capturing group: "(a)(b)"'],
    ["regex.extractAll('a1b2', '[a-z]([0-9])')", { list: [text("1"), text("2")] }],
    ["regex.extractAll('x', '(')", "error parsing regexp: missing closing ): `(`"],
  ],
};

for (const [name, table] of Object.entries(TABLES)) {
  describe(name, () => {
    for (const [source, result] of table) test(source, () => assert.deepEqual(evaluate(source, "standard"), result));
  });
}
