/** A call may run twice, and must see the same both times. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Moment, MomentView, Seeds } from "../../../../src/wasm/run/guest/moment.js";

const MS = 1_000_000n;

/** Random bytes, asked for in pieces of these lengths. */
function random(moment: Moment, ...lengths: readonly number[]): string {
  const view = new MomentView(moment);
  const pieces = lengths.map((length) => {
    const piece = new Uint8Array(length);
    view.random(piece, () => {});
    return piece;
  });
  return Buffer.concat(pieces).toString("hex");
}

describe("the moment of a call", () => {
  test("is the same for another run of it, with another thread between", () => {
    const first = new Moment();
    const [wall, monotonic, bytes] = [
      new MomentView(first).wall(),
      new MomentView(first).monotonic(),
      random(first, 200),
    ];
    const again = new Moment(structuredClone(first.parts));
    assert.equal(new MomentView(again).wall(), wall);
    assert.equal(new MomentView(again).monotonic(), monotonic);
    assert.equal(random(again, 200), bytes);
  });

  test("is made of what has been asked for, and nothing else is handed on", () => {
    const moment = new Moment();
    assert.deepEqual(moment.parts, {});
    new MomentView(moment).wall();
    assert.deepEqual(Object.keys(moment.parts), ["time"]);
    random(moment, 1);
    assert.deepEqual(Object.keys(moment.parts), ["time", "seed"]);
  });

  test("is now", () => {
    const before = Date.now();
    const { began } = new MomentView(new Moment());
    assert.ok(began >= before && began <= Date.now());
    const monotonic = process.hrtime.bigint();
    const later = new MomentView(new Moment()).monotonic();
    assert.ok(later > monotonic - MS && later < process.hrtime.bigint() + MS);
  });

  test("has a clock that stands still but for the looks at it and for sleep", () => {
    const view = new MomentView(new Moment());
    const first = view.wall();
    assert.equal(view.wall() - first, 1_000n);
    view.slept(5n * MS);
    assert.equal(view.wall() - first, 5n * MS + 2_000n);
    const monotonic = view.monotonic();
    assert.equal(view.monotonic() - monotonic, 1_000n);
  });

  test("has random bytes that do not depend on how they are asked for", () => {
    const moment = new Moment();
    const whole = random(moment, 200_000);
    assert.equal(random(moment, 1, 47, 1, 0, 99_951, 100_000), whole);
    assert.notEqual(random(new Moment(), 200_000), whole);
    assert.equal(new Set(Buffer.from(whole, "hex")).size, 256);
  });

  test("counts its random bytes as work before they are made", () => {
    const target = new Uint8Array(300_000);
    let worked = 0;
    const enough = new Error("enough");
    const make = () =>
      new MomentView(new Moment()).random(target, (bytes) => {
        worked += bytes;
        if (worked > 100_000) throw enough;
      });
    assert.throws(make, enough);
    assert.equal(target.lastIndexOf(1) < 100_000 && target.subarray(worked).every((byte) => byte === 0), true);
  });

  test("has a seed of its own", () => {
    const seeds = new Seeds();
    const made = Array.from({ length: 100 }, () => Buffer.from(seeds.next()).toString("hex"));
    assert.equal(new Set(made).size, 100);
    assert.ok(made.every((seed) => seed.length === 192));
  });
});
