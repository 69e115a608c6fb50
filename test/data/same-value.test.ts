import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "../../src/data/json.js";
import { sameValue } from "../../src/data/same-value.js";

test("JSON values are equal by value, numbers whatever their notation, objects whatever their order", () => {
  const same = (a: string, b: string): boolean => sameValue(parseJson(a), parseJson(b));
  for (const [a, b] of [
    ['{"a":1,"b":[null,true]}', '{"b":[null,true],"a":1}'],
    ["1.0", "1"],
    ["1e3", "1000"],
    ["9007199254740993", "9007199254740993"],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1.0}}'],
  ] as const) {
    assert.ok(same(a, b), `${a} ${b}`);
  }
  for (const [a, b] of [
    ["9007199254740993", "9007199254740992"],
    ["1.0", "2.0"],
    ['{"a":null}', "{}"],
    ["{}", "[]"],
    ["[1]", "[1,2]"],
    ['{"__proto__":1}', '{"constructor":1}'],
    ['"1"', "1"],
    ["null", "{}"],
  ] as const) {
    assert.ok(!same(a, b), `${a} ${b}`);
  }
});
