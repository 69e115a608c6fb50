/** The counts of places: who may enter, in all and for one policy. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Slots } from "../../../../src/wasm/run/threads/slots.js";

describe("the places of calls", () => {
  test("there are as many slots as the pool has, whoever takes them", () => {
    const slots = new Slots(2);
    for (const free of [1, 0]) {
      assert.equal(slots.mayEnter("slot", "a"), true);
      slots.enter("slot", "a");
      assert.deepEqual([slots.free, slots.taken], [free, 2 - free]);
    }
    assert.equal(slots.mayEnter("slot", "b"), false);
    slots.leave("slot", "a");
    assert.equal(slots.mayEnter("slot", "b"), true);
  });

  test("a policy with as many long calls as there are slots waits, others don't", () => {
    const slots = new Slots(2);
    slots.enter("long", "a");
    assert.equal(slots.mayEnter("slot", "a"), true);
    slots.enter("long", "a");
    assert.deepEqual([slots.mayEnter("slot", "a"), slots.mayEnter("slot", "b")], [false, true]);
    slots.leave("long", "a");
    assert.equal(slots.mayEnter("slot", "a"), true);
  });

  test("there is room for four long calls for each slot", () => {
    const slots = new Slots(2);
    for (let calls = 0; calls < 8; calls++) {
      assert.equal(slots.hasRoomForLong, true);
      slots.enter("long", `${calls}`);
    }
    assert.equal(slots.hasRoomForLong, false);
  });

  for (const [size, each, all] of [
    [1, 1, 2],
    [2, 1, 4],
    [4, 2, 8],
  ] as const)
    test(`of ${size} slots, policies whose calls time out take ${each} long places each and ${all} together`, () => {
      const slots = new Slots(size);
      let calls = 0;
      for (let policy = 0; policy < 20; policy++)
        for (let own = 0; slots.mayEnter("long", `${policy}`); own++, calls++) {
          assert.ok(own < each);
          slots.enter("long", `${policy}`);
        }
      assert.equal(calls, all);
      assert.equal(slots.free, size);
      assert.equal(slots.hasRoomForLong, true);
    });

  test("a policy whose questions to the host are not answered leaves others room for theirs", () => {
    const slots = new Slots(2);
    let calls = 0;
    for (; slots.mayWaitForHost("a"); calls++) slots.enter("host", "a");
    assert.equal(calls, 24);
    for (; slots.mayWaitForHost("b"); calls++) slots.enter("host", "b");
    assert.equal(calls, 32);
    slots.leave("host", "a");
    assert.deepEqual([slots.mayWaitForHost("a"), slots.mayWaitForHost("b")], [true, true]);
  });
});
