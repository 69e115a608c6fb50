/** What the pool remembers of policies. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkKey, History } from "../../../../src/wasm/run/threads/history.js";
import { heldClock } from "./held-clock.js";

function held() {
  const { clock, pass } = heldClock();
  return { history: new History(clock.now), pass };
}

describe("a policy's history", () => {
  test("two time-outs in a row count; one is enough for a policy that has never answered", () => {
    const { history } = held();
    history.timedOut("b");
    assert.equal(history.timesOut("b"), true);
    history.ended("b", 1);
    history.ended("a", 1);
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
    history.ended("a", 1);
    history.timedOut("a");
    pass(50_000);
    history.timedOut("a");
    pass(59_000);
    assert.equal(history.timesOut("a"), true);
    pass(2_000);
    assert.equal(history.timesOut("a"), false);
  });

  test("a call may take twice as long as the longest before, and 50 ms in any case; the check of settings a second", () => {
    const { history } = held();
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("a", true)], [50, 1_000]);
    for (const computed of [400, 20, 300]) history.ended("a", computed);
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("b", false)], [800, 50]);
  });

  test("the check of its settings says how long the first call may take", () => {
    const { history } = held();
    history.ended(checkKey("a"), 300);
    assert.equal(history.earlyMs("a", false), 600);
    for (let calls = 0; calls < 2; calls++) history.timedOut(checkKey("a"));
    assert.equal(history.timesOut("a"), false);
  });

  test("to take a state is forty of its policy's calls, a second in any case, and nothing for one that times out", () => {
    const { history } = held();
    assert.equal(history.earlyMsOfState(checkKey("a")), 1_000);
    history.ended("a", 200);
    assert.equal(history.earlyMsOfState(checkKey("a")), 8_000);
    assert.equal(history.earlyMsOfState(checkKey("b")), 1_000);
    for (let calls = 0; calls < 2; calls++) history.timedOut("a");
    assert.equal(history.earlyMsOfState(checkKey("a")), 0);
  });

  test("one whose policy times out has no time of that kind", () => {
    const { history } = held();
    history.ended("a", 400);
    for (let calls = 0; calls < 2; calls++) history.timedOut("a");
    assert.deepEqual([history.earlyMs("a", false), history.earlyMs("a", true)], [0, 0]);
  });

  test("is kept for the last ten thousand policies", () => {
    const { history } = held();
    for (const policy of ["a", "b"]) history.timedOut(policy);
    for (let policy = 0; policy < 9_999; policy++) history.timedOut(`${policy}`);
    assert.deepEqual([history.timesOut("a"), history.timesOut("b")], [false, true]);
  });
});
