/** Where a policy's next call begins. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CallHistory } from "../../../../src/wasm/run/main-thread/history.js";

/** Short calls on threads until the main thread is tried again. */
function wanted(history: CallHistory): number {
  for (let calls = 0; calls < 100_000; calls++) {
    if (history.isInline) return calls;
    history.onThread(0.1);
  }
  return Number.POSITIVE_INFINITY;
}

function failTwice(history: CallHistory): void {
  history.failed();
  history.failed();
}

describe("a policy's history", () => {
  test("begins on the main thread, or behind as many short calls as its module wants", () => {
    assert.equal(wanted(new CallHistory(0)), 0);
    assert.equal(wanted(new CallHistory(4)), 4);
    assert.equal(wanted(new CallHistory(Number.POSITIVE_INFINITY)), Number.POSITIVE_INFINITY);
  });

  test("leaves the main thread after two failures in a row", () => {
    const history = new CallHistory(0);
    history.failed();
    assert.equal(history.isInline, true);
    history.failed();
    assert.equal(history.isInline, false);
  });

  test("is proved by an answer there, until a call fails there", () => {
    const history = new CallHistory(0);
    assert.equal(history.isProved, false);
    history.onThread(0.1);
    assert.equal(history.isProved, false);
    history.answered(0.1);
    assert.equal(history.isProved, true);
    history.failed();
    assert.equal(history.isProved, false);
  });

  test("is proved by short calls on threads, where those are wanted first, until it leaves the main thread", () => {
    const history = new CallHistory(4);
    for (let call = 0; call < 4; call++) {
      assert.equal(history.isProved, false);
      history.onThread(0.1);
    }
    assert.equal(history.isProved, true);
    history.failed();
    assert.equal(history.isProved, true);
    history.failed();
    assert.equal(history.isProved, false);
    wanted(history);
    assert.equal(history.isProved, true);
  });

  test("stays there with one long call in a hundred, and not with one in ten", () => {
    for (const [every, stays] of [
      [100, true],
      [10, false],
    ] as const) {
      const history = new CallHistory(0);
      for (let call = 1; call <= 1_000 && history.isInline; call++) {
        if (call % every === 0) history.failed();
        else history.answered(0.1);
      }
      assert.equal(history.isInline, stays);
    }
  });

  test("comes back after calls on threads that are usually short, a single long one or not", () => {
    const history = new CallHistory(0);
    failTwice(history);
    for (let call = 0; call < 7; call++) history.onThread(0.1);
    history.onThread(50);
    assert.ok(wanted(history) <= 4);
  });

  test("stays on threads as long as its calls usually take long there, or ask the host", () => {
    for (const milliseconds of [4, undefined]) {
      const history = new CallHistory(0);
      failTwice(history);
      for (let call = 0; call < 1_000; call++) history.onThread(milliseconds);
      assert.equal(history.isInline, false);
      assert.ok(wanted(history) > 1);
    }
  });

  test("leaves the main thread when its calls have become long there, though they answer", () => {
    const history = new CallHistory(0);
    history.answered(50);
    assert.equal(history.isInline, true);
    for (let call = 0; call < 20; call++) history.answered(4);
    assert.equal(history.isInline, false);
  });

  test("leaves the main thread when bringing back what its calls have changed takes long there", () => {
    const history = new CallHistory(0);
    for (let call = 0; call < 100; call++) {
      history.answered(0.2);
      history.tidied(0.3);
    }
    assert.ok(Math.abs(history.usualMs - 0.5) < 0.1);
    assert.equal(history.isInline, true);
    for (let call = 0; call < 50 && history.isInline; call++) {
      history.answered(0.2);
      history.tidied(4);
    }
    assert.equal(history.isInline, false);
  });

  test("comes back later each time that it fails again, up to a most, and as soon as ever when it has done well for long", () => {
    const history = new CallHistory(0);
    const waits = Array.from({ length: 12 }, () => {
      failTwice(history);
      return wanted(history);
    });
    assert.deepEqual(waits.slice(0, 3), [8, 16, 32]);
    assert.deepEqual(waits.slice(-2), [4_096, 4_096]);
    for (let call = 0; call < 1_024; call++) history.answered(0.1);
    failTwice(history);
    assert.equal(wanted(history), 8);
  });

  test("knows how long a call usually takes; one that had to wait for the processor says little", () => {
    const history = new CallHistory(0);
    for (let call = 0; call < 200; call++) history.answered(0.02);
    assert.ok(Math.abs(history.usualMs - 0.02) < 0.001);
    history.answered(50);
    assert.ok(history.usualMs < 1);
    for (let call = 0; call < 200; call++) history.answered(0.5);
    assert.ok(history.usualMs > 0.45);
  });

  test("stays there with one in ten calls that had to wait, however long", () => {
    const history = new CallHistory(0);
    for (let call = 1; call <= 10_000; call++) history.answered(history.counted(call % 10 === 0 ? 60 : 0.5));
    assert.equal(history.isInline, true);
    assert.ok(history.usualMs < 0.8);
  });

  test("leaves within twenty calls when all of them have become long", () => {
    for (const before of [0.02, 0.5]) {
      const history = new CallHistory(0);
      for (let call = 0; call < 100; call++) history.answered(history.counted(before));
      let calls = 0;
      for (; history.isInline; calls++) history.answered(history.counted(5));
      assert.ok(calls <= 20, `${calls}`);
    }
  });

  test("comes back as soon as ever when its calls were long there and are short on threads", () => {
    const history = new CallHistory(0);
    for (let times = 0; times < 5; times++) {
      while (history.isInline) history.answered(history.counted(5));
      assert.ok(wanted(history) <= 10);
    }
  });
});
