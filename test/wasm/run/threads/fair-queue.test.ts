import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FairQueue } from "../../../../src/wasm/run/threads/fair-queue.js";

function queue(...items: [string, number][]): FairQueue<number> {
  const made = new FairQueue<number>();
  for (const [key, item] of items) made.push(key, item);
  return made;
}
const all = () => true;

describe("the queue of waiting calls", () => {
  test("keys take turns, each in its own order", () => {
    const waiting = queue(["a", 1], ["a", 2], ["a", 3], ["b", 4], ["c", 5], ["b", 6]);
    const order = Array.from({ length: 6 }, () => waiting.take(all));
    assert.deepEqual(order, [1, 4, 5, 2, 6, 3]);
    assert.equal(waiting.size, 0);
    assert.equal(waiting.take(all), undefined);
  });

  test("a key that may not have its turn is passed over and keeps its place", () => {
    const waiting = queue(["a", 1], ["b", 2]);
    assert.equal(
      waiting.take((key) => key !== "a"),
      2,
    );
    assert.equal(
      waiting.take((key) => key !== "a"),
      undefined,
    );
    assert.equal(waiting.take(all), 1);
  });

  test("says whether anybody waits who may have a turn", () => {
    const waiting = queue(["a", 1], ["b", 2]);
    const isB = (key: string) => key === "b";
    assert.equal(waiting.someKey(isB), true);
    assert.equal(waiting.take(isB), 2);
    assert.equal(waiting.someKey(isB), false);
  });

  test("items may leave their lines", () => {
    const waiting = queue(["a", 1], ["a", 2], ["b", 3], ["a", 4]);
    assert.deepEqual(
      waiting.sweep((item) => item !== 2 && item !== 4),
      [1, 3],
    );
    assert.equal(waiting.size, 2);
    assert.deepEqual(
      waiting.sweep(() => false),
      [],
    );
    assert.deepEqual(waiting.drain(), [2, 4]);
    assert.equal(waiting.size, 0);
  });
});
