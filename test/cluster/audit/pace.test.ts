import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RationedPace } from "../../../src/cluster/audit/pace.js";

/** Works in steps of a millisecond until so many are done. */
async function work(busy: () => boolean, milliseconds: number, { before = 0, meanwhile = 0, waited = 0 } = {}) {
  let now = 0;
  let used = 0;
  const pace = new RationedPace({
    now: () => now,
    cpu: () => used,
    isBusy: busy,
    rest: async (time) => {
      now += time;
      used += meanwhile;
    },
  });
  now += waited + before;
  used += before;
  for (; used < milliseconds; ) {
    now += 1;
    used += 1;
    await pace.step();
  }
  return { now, share: used / (now - waited) };
}

describe("the pace of the audit", () => {
  test("is a fifth of a core while requests come", async () => {
    const { share } = await work(() => true, 2_000);
    assert.ok(share <= 0.205 && share > 0.19, `${share}`);
  });

  test("counts what is used while it rests", async () => {
    const { share } = await work(() => true, 2_000, { meanwhile: 5 });
    assert.ok(share <= 0.205, `${share}`);
  });

  test("counts what policies take to be loaded, however long nothing was done before", async () => {
    const { share } = await work(() => true, 5_000, { waited: 3_600_000, before: 3_000 });
    assert.ok(share <= 0.25, `${share}`);
  });

  test("is all of it while none come", async () => {
    assert.equal((await work(() => false, 2_000)).share, 1);
  });

  test("is quick again when no more come", async () => {
    let looks = 0;
    const { share } = await work(() => ++looks < 20, 2_000);
    assert.ok(share > 0.5, `${share}`);
  });
});
