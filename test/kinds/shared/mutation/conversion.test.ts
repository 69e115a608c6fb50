import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError, MadeList, type Value } from "../../../../src/cel/index.js";
import { Conversion, MUTATION_MAX_SIZE } from "../../../../src/kinds/shared/mutation/conversion.js";
import { ObjectVal } from "../../../../src/kinds/shared/mutation/mutation-types.js";

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

  test("counts where only a message would show it, too, and is not looked at each time", () => {
    const map: Value = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, "v"]));
    let looks = 0;
    const watched = new Proxy(map as object, {
      ownKeys: (target) => {
        looks++;
        return Reflect.ownKeys(target);
      },
    }) as Value;
    const literals = (count: number) => MadeList.from({ length: count }, () => MadeList.of(watched));
    const converted = (count: number) => {
      const one = conversion();
      return one.configuration(new ObjectVal("Object", new Map<string, Value>([["l", literals(count)]])));
    };
    const some = converted(10);
    assert.ok(!(some instanceof CelError));
    assert.equal(looks, 1);
    const all = converted(100);
    assert.ok(all instanceof CelError && all.code === "too-large");
    assert.equal(looks, 2);
  });

  test("is too large before any of it is converted", () => {
    let gets = 0;
    const members = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, "v"]));
    const watched = new Proxy(members, {
      get: (target, name) => {
        if (typeof name === "string" && name.startsWith("k")) gets++;
        return Reflect.get(target, name);
      },
    }) as Value;
    const object = new ObjectVal("Object", new Map<string, Value>([["m", watched]]));
    for (const result of [conversion().configuration(object), conversion().json(watched)]) {
      assert.ok(result instanceof CelError && result.code === "too-large");
    }
    assert.equal(gets, 0);
  });

  test("leaves room for all that an object of the server's own can hold", () => {
    // 1.5 MiB in members of 25 characters.
    const containers = Array.from({ length: 6_300 }, (_, i) =>
      Object.fromEntries(Array.from({ length: 10 }, (_, k) => [`name${k}`, `value-${i}-${k}-12`.padEnd(16, "x")])),
    );
    assert.ok(!(conversion().json({ spec: { containers } }) instanceof CelError));
  });

  test("is made once however often it is named", () => {
    const one = conversion();
    assert.equal(one.json(object), one.json(object));
  });
});
