import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MadeList, MapValue, type Value } from "../../../../src/cel/index.js";
import { foreignValue } from "../../../../src/kinds/shared/mutation/go-value.js";

describe("lists and maps in messages", () => {
  test("are shown as Go shows them, with their members sorted", () => {
    const map = new MapValue();
    for (const key of ["b", "a", ""]) map.set(key, `${key}${key}`);
    assert.equal(foreignValue(map).text, "map[: a:aa b:bb]");
    assert.equal(foreignValue(MadeList.of("", "", "x")).text, "[  x]");
    const plain: Value = { z: 1, y: [true] };
    assert.equal(foreignValue(MadeList.of<Value>(map, plain)).text, "[map[: a:aa b:bb] map[y:[true] z:1]]");
  });

  test("are shown up to a length, and what comes after that is not looked at", () => {
    let looks = 0;
    const watched = (item: Value): Value =>
      new Proxy([item], {
        get: (target, name) => {
          looks++;
          return Reflect.get(target, name);
        },
      }) as unknown as Value;
    const items = MadeList.from({ length: 10_000 }, () => watched(""));
    const { text } = foreignValue(items);
    assert.ok(text.startsWith("[[] [] []") && text.endsWith("…]") && text.length < 1_010, text);
    assert.ok(looks < 5_000, String(looks));
    const names = Array.from({ length: 100_000 }, (_, i) => [`k${i}`, watched("")] as const);
    looks = 0;
    assert.ok(foreignValue(Object.fromEntries(names)).text.endsWith("…]"));
    assert.ok(looks < 5_000, String(looks));
  });

  test("are not looked at before a message needs them", () => {
    const map = new Proxy({}, { ownKeys: () => assert.fail("it is looked at") }) as Value;
    assert.equal(foreignValue(map).type, "map[string]interface {}");
  });
});
