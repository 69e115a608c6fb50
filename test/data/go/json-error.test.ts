import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { goJsonError } from "../../../src/data/go/json-error.js";

describe("Go's error for a text that is no JSON", () => {
  for (const [text, error] of [
    ["", "unexpected end of JSON input"],
    ['{"a":1', "unexpected end of JSON input"],
    ['"a\\n', "unexpected end of JSON input"],
    ["tru", "invalid character ' ' in literal true (expecting 'e')"],
    ["trux", "invalid character 'x' in literal true (expecting 'e')"],
    ["-x", "invalid character 'x' in numeric literal"],
    ["1.", "invalid character ' ' after decimal point in numeric literal"],
    ["1ex", "invalid character 'x' in exponent of numeric literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ["{1:2}", "invalid character '1' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 2}', "invalid character '2' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ["1 2", "invalid character '2' after top-level value"],
    ["é", "invalid character 'Ã' looking for beginning of value"],
    ['x"', "invalid character 'x' looking for beginning of value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['1"', `invalid character '"' after top-level value`],
    ["[".repeat(10_001), "exceeded max depth"],
  ] as const) {
    test(`is ${error}: ${text.slice(0, 20)}`, () => assert.equal(goJsonError(text), error));
  }

  test("is none where it is", () => {
    for (const text of ['{"a":[1,-2.5e+3,"\\u00e9\\\\",null,true,{}]}', " [] ", "0", '"\\""']) {
      assert.equal(goJsonError(text), undefined);
    }
  });
});
