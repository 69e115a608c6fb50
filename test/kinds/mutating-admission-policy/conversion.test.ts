import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError, type Value } from "../../../src/cel/index.js";
import { Conversion, MUTATION_MAX_SIZE } from "../../../src/kinds/mutating-admission-policy/conversion.js";
import { ObjectVal } from "../../../src/kinds/mutating-admission-policy/mutation-types.js";

const conversion = () => new Conversion({ typeOf: () => undefined });
const text = "x".repeat(1_000);
const object: Value = { spec: { texts: Array.from({ length: 500 }, () => text) } };

describe("what one mutation gives", () => {
  test("may be large, but not larger than an object by much: what is named many times counts each time", () => {
    const one = conversion();
    let times = 0;
    let result: unknown;
    do {
      result = one.json(object);
      times++;
    } while (!(result instanceof CelError) && times < 1_000);
    assert.ok(result instanceof CelError && result.code === "too-large");
    assert.ok(times > 10 && times * 500_000 < 1.1 * MUTATION_MAX_SIZE + 500_000, String(times));
  });

  test("is bounded in an apply configuration, too", () => {
    const fields = new Map<string, Value>(Array.from({ length: 40 }, (_, i) => [`f${i}`, object]));
    const result = conversion().configuration(new ObjectVal("Object", fields));
    assert.ok(result instanceof CelError && result.code === "too-large");
  });

  test("is made once however often it is named", () => {
    const one = conversion();
    assert.equal(one.json(object), one.json(object));
  });
});
