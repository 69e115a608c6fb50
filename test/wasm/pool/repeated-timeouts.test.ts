/** Which policies count as timing out repeatedly, and for how long. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RepeatedTimeouts } from "../../../src/wasm/pool/repeated-timeouts.js";

describe("repeated time-outs", () => {
  test("are two in a row of the same policy", () => {
    const timeouts = new RepeatedTimeouts(() => 1);
    timeouts.add("a");
    timeouts.add("b");
    assert.deepEqual([timeouts.has("a"), timeouts.has("b")], [false, false]);
    timeouts.add("a");
    assert.deepEqual([timeouts.has("a"), timeouts.has("b")], [true, false]);
  });

  test("end with a call that ends by itself", () => {
    const timeouts = new RepeatedTimeouts(() => 1);
    timeouts.add("a");
    timeouts.clear("a");
    timeouts.add("a");
    assert.equal(timeouts.has("a"), false);
    timeouts.add("a");
    timeouts.clear("a");
    assert.equal(timeouts.has("a"), false);
  });

  test("end a minute after the last one", () => {
    let now = 1;
    const timeouts = new RepeatedTimeouts(() => now);
    timeouts.add("a");
    now += 50_000;
    timeouts.add("a");
    now += 50_000;
    assert.equal(timeouts.has("a"), true);
    now += 20_000;
    assert.equal(timeouts.has("a"), false);
  });

  test("are counted for a bounded number of policies", () => {
    const timeouts = new RepeatedTimeouts(() => 1);
    for (let policy = 0; policy <= 1_000; policy++) for (const _ of [1, 2]) timeouts.add(`${policy}`);
    assert.deepEqual([timeouts.has("0"), timeouts.has("1000")], [false, true]);
  });
});
