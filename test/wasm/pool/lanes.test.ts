/** The lanes' counts: who may enter, in all and for one policy. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Lanes } from "../../../src/wasm/pool/lanes.js";

describe("lanes", () => {
  test("a policy with as many slow calls as there are slots waits, others don't", () => {
    const lanes = new Lanes(2);
    lanes.enter("slow", "a");
    assert.equal(lanes.isFull("a"), false);
    lanes.enter("slow", "a");
    assert.deepEqual([lanes.isFull("a"), lanes.isFull("b"), lanes.hasRoom("slow")], [true, false, true]);
    lanes.leave("slow", "a");
    assert.equal(lanes.isFull("a"), false);
  });

  test("a policy whose questions to the host are not answered leaves others room for theirs", () => {
    const lanes = new Lanes(2);
    let calls = 0;
    for (; lanes.mayPark("a"); calls++) lanes.enter("parked", "a");
    assert.equal(calls, 24);
    for (; lanes.mayPark("b"); calls++) lanes.enter("parked", "b");
    assert.equal(calls, 32);
    lanes.leave("parked", "a");
    assert.deepEqual([lanes.mayPark("a"), lanes.mayPark("b")], [true, true]);
  });

  test("calls in regular slots leave those free that they don't have", () => {
    const lanes = new Lanes(2);
    for (const free of [1, 0, 0]) {
      lanes.enter("regular", "a");
      assert.equal(lanes.free, free);
    }
    assert.equal(lanes.hasRoom("regular"), false);
    for (const free of [0, 1, 2]) {
      lanes.leave("regular", "a");
      assert.equal(lanes.free, free);
    }
  });
});
