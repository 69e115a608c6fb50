/** The counts of slots: who may enter, in all and for one policy. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Slots } from "../../../src/wasm/pool/slots.js";

describe("slots", () => {
  test("a policy with as many slow calls as there are slots waits, others don't", () => {
    const slots = new Slots(2);
    slots.enter("slow", "a");
    assert.equal(slots.hasMaxSlow("a"), false);
    slots.enter("slow", "a");
    assert.deepEqual([slots.hasMaxSlow("a"), slots.hasMaxSlow("b"), slots.hasRoom("slow")], [true, false, true]);
    slots.leave("slow", "a");
    assert.equal(slots.hasMaxSlow("a"), false);
  });

  test("there is room for four slow calls for each regular slot", () => {
    const slots = new Slots(2);
    for (let calls = 0; calls < 8; calls++) {
      assert.equal(slots.hasRoom("slow"), true);
      slots.enter("slow", `${calls}`);
    }
    assert.equal(slots.hasRoom("slow"), false);
    assert.equal(slots.maxThreads, 2 + 2 + 8 + 32);
  });

  test("a policy whose questions to the host are not answered leaves others room for theirs", () => {
    const slots = new Slots(2);
    let calls = 0;
    for (; slots.mayWaitForHost("a"); calls++) slots.enter("hostCall", "a");
    assert.equal(calls, 24);
    for (; slots.mayWaitForHost("b"); calls++) slots.enter("hostCall", "b");
    assert.equal(calls, 32);
    slots.leave("hostCall", "a");
    assert.deepEqual([slots.mayWaitForHost("a"), slots.mayWaitForHost("b")], [true, true]);
  });

  test("calls in regular slots leave those free that they don't have", () => {
    const slots = new Slots(2);
    for (const free of [1, 0, 0]) {
      slots.enter("regular", "a");
      assert.equal(slots.free, free);
    }
    assert.equal(slots.hasRoom("regular"), false);
    for (const free of [0, 1, 2]) {
      slots.leave("regular", "a");
      assert.equal(slots.free, free);
    }
  });

  test("one policy of which nothing is known is always tried, a second one where a thread is left and nobody is slow", () => {
    const slots = new Slots(2);
    assert.equal(slots.mayTry(1), true);
    slots.enter("trial", "a");
    assert.deepEqual([slots.mayTry(1), slots.mayTry(2)], [false, true]);
    slots.enter("slow", "b");
    assert.equal(slots.mayTry(2), false);
    slots.leave("trial", "a");
    assert.equal(slots.mayTry(1), true);
    assert.equal(slots.free, 2);
  });
});
