import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WorkQueue } from "../../../src/cluster/approver/approver.js";

describe("a work queue", () => {
  test("hands out each key once, in order", () => {
    const queue = new WorkQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    assert.equal(queue.size, 3);
    assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.take()], ["a", "b", "c", undefined]);
  });

  test("does not hand out a key that is worked on, but again after that", () => {
    const queue = new WorkQueue();
    queue.add("a");
    assert.equal(queue.take(), "a");
    queue.add("a");
    queue.add("a");
    assert.equal(queue.take(), undefined);
    queue.done("a");
    assert.equal(queue.take(), "a");
    queue.done("a");
    assert.equal(queue.take(), undefined);
  });

  test("takes the same small time for each of a hundred thousand keys", () => {
    const queue = new WorkQueue();
    for (let i = 0; i < 100_000; i++) queue.add(`team/request-${i}`);
    const before = process.cpuUsage();
    let taken = 0;
    for (let key = queue.take(); key !== undefined; key = queue.take()) {
      queue.done(key);
      taken++;
    }
    assert.equal(taken, 100_000);
    // Some 30 ms; were each key searched for behind all that are gone it would be minutes.
    assert.ok(process.cpuUsage(before).user < 5_000_000);
  });
});
