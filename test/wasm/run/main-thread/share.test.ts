/** How much of the main thread guests take. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MainThreadShare } from "../../../../src/wasm/run/main-thread/main-thread-calls.js";

describe("the main thread", () => {
  for (const [processors, most] of [
    [2, 500],
    [1, 900],
  ] as const)
    test(`is left to others by calls that take long: they get ${most} ms of 1,000, with as many processors as ${processors}`, () => {
      const share = new MainThreadShare(processors);
      let [now, ran] = [0, 0];
      for (; now < 1_000; now += 0.5) {
        if (!share.allows(now, 0.5)) continue;
        share.took(now, 0.5);
        ran += 0.5;
      }
      assert.ok(ran >= most - 10 && ran <= most + 10, `${ran} ms of 1000`);
    });

  test("is for calls that are short in any case, and they do not count", () => {
    const share = new MainThreadShare(2);
    for (let now = 0; now < 1_000; now += 0.1) share.took(now, 0.1);
    assert.equal(share.allows(1_000, 0.9), true);
    share.took(1_000, 60);
    assert.equal(share.allows(1_060, 0.9), false);
    assert.equal(share.allows(1_060, 0.1), true);
    assert.equal(share.allows(1_101, 0.9), true);
  });
});
