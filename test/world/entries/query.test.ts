import assert from "node:assert/strict";
import { test } from "node:test";
import { compileQuery } from "../../../src/world/entries/query.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";

const refusal = "a literal has a key that is written with an escape, which is not supported";

test("a literal whose keys have escapes is refused: the library reads it by the built-in parser", () => {
  for (const query of ['`{"\\u0061b": 1}`', 'a || `{"x": [{"a\\"b": 1}]}`', 'a == `{"\\\\": "\\`"}`']) {
    const compiled = compileQuery(query);
    assert.ok(compiled instanceof LookupFailure, query);
    assert.equal(compiled.message, refusal);
  }
});

test("escapes elsewhere in a query are read", () => {
  const data = { 'a"b': 1, "`": { n: 2 } };
  for (const [query, found] of [
    [String.raw`"a\"b"`, 1],
    [String.raw`"\u0060".n`, 2],
    ['`{"a": "\\u0062"}`', { a: "b" }],
    ["'`{\"\\u0061\": 1}`'", '`{"\\u0061": 1}`'],
    [String.raw`{"x\"y": n} | "x\"y"`, null],
  ] as const) {
    const compiled = compileQuery(query);
    assert.ok(!(compiled instanceof LookupFailure), `${query}: ${JSON.stringify(compiled)}`);
    assert.deepEqual(compiled(data), found, query);
  }
});
