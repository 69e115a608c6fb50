import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "../../src/policy/turns.js";

test("turns behind are those that nobody else waits for", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const taken = (name: string, giver: { next(): Promise<void> }) => giver.next().then(() => order.push(name));
  const behind = [taken("behind 1", turns.behind), taken("behind 2", turns.behind)];
  const first = taken("first", turns).then(() => taken("again", turns));
  await Promise.all([...behind, first, taken("second", turns)]);
  // One that comes after its turn for another finds nobody behind it that was served in between.
  assert.deepEqual(order.slice(0, 3), ["first", "second", "again"]);
  assert.deepEqual(order.slice(3), ["behind 1", "behind 2"]);
});
