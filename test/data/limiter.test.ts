import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { limiter } from "../../src/data/limiter.js";

describe("a limit on tasks at a time", () => {
  test("starts them in order, the next one when one has ended, however it ended", async () => {
    const inTurn = limiter(2);
    const started: number[] = [];
    const ends: ((error?: Error) => void)[] = [];
    const results = [0, 1, 2, 3].map((task) =>
      inTurn(() => {
        started.push(task);
        return new Promise<number>((resolve, reject) => {
          ends[task] = (error) => (error ? reject(error) : resolve(task));
        });
      }),
    );
    await new Promise(setImmediate);
    assert.deepEqual(started, [0, 1]);
    ends[1]?.(new Error("failed"));
    await assert.rejects(results[1] ?? Promise.resolve(), { message: "failed" });
    await new Promise(setImmediate);
    assert.deepEqual(started, [0, 1, 2]);
    for (const task of [0, 2]) ends[task]?.();
    await new Promise(setImmediate);
    ends[3]?.();
    assert.deepEqual(await Promise.all([results[0], results[2], results[3]]), [0, 2, 3]);
  });

  test("forgets tasks that have ended", async () => {
    const inTurn = limiter(1);
    for (const task of [1, 2, 3]) assert.equal(await inTurn(async () => task), task);
  });
});
