import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Turns } from "../../src/policy/turns.js";

describe("turns on the main thread", () => {
  test("are given one per turn of the event loop, in order, however many wait", async () => {
    const turns = new Turns();
    const events: string[] = [];
    const names = ["a", "b", "c"];
    const done = Promise.all(names.map((name) => turns.next().then(() => events.push(name))));
    let loops = 0;
    const count = (): void => {
      events.push(`loop ${++loops}`);
      if (loops < 3) setImmediate(count);
    };
    setImmediate(count);
    await done;
    assert.deepEqual(
      events.filter((event, i) => i === 0 || !event.startsWith("loop") || !events[i - 1]?.startsWith("loop")),
      ["a", "loop 1", "b", "loop 2", "c"],
    );
    await turns.next();
  });
});
