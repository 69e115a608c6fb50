/** What the pool remembers of policies. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { History } from "../../../src/wasm/pool/history.js";
import { heldClock } from "./held-clock.js";

function held() {
  const { clock, pass } = heldClock();
  return { history: new History(clock.now), pass };
}

describe("a policy's history", () => {
  test("two time-outs in a row count, one does not", () => {
    const { history } = held();
    history.timedOut("a");
    assert.equal(history.timesOut("a"), false);
    history.timedOut("a");
    assert.deepEqual([history.timesOut("a"), history.timesOut("b")], [true, false]);
  });

  test("a call that ends by itself makes up for them", () => {
    const { history } = held();
    for (let calls = 0; calls < 5; calls++) history.timedOut("a");
    history.ended("a", 1);
    history.timedOut("a");
    assert.equal(history.timesOut("a"), false);
  });

  test("they are forgotten a minute after the last one", () => {
    const { history, pass } = held();
    history.timedOut("a");
    pass(50_000);
    history.timedOut("a");
    pass(59_000);
    assert.equal(history.timesOut("a"), true);
    pass(2_000);
    assert.equal(history.timesOut("a"), false);
  });

  test("a call may take twice as long as the longest before, and 100 ms in any case; the check of settings a second", () => {
    const { history } = held();
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("a", true)], [100, 1_000]);
    for (const computed of [400, 20, 300]) history.ended("a", computed);
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("b", false)], [800, 100]);
  });

  test("one whose policy times out has no time of that kind", () => {
    const { history } = held();
    history.ended("a", 400);
    for (let calls = 0; calls < 2; calls++) history.timedOut("a");
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("a", true)], [0, 0]);
  });

  test("is kept for the last thousand policies", () => {
    const { history } = held();
    for (const policy of ["a", "b"]) for (let calls = 0; calls < 2; calls++) history.timedOut(policy);
    for (let policy = 0; policy < 999; policy++) history.timedOut(`${policy}`);
    assert.deepEqual([history.timesOut("a"), history.timesOut("b")], [false, true]);
  });
});
