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

  test("after a long one come later: everybody else has as much time", async () => {
    const order: string[] = [];
    let time = 0;
    const turns = new Turns(() => time);
    const long = turns.next().then(() => {
      time += 60;
      order.push("long");
    });
    const short = turns.next().then(() => order.push("short"));
    let steps = 0;
    const step = (): void => {
      steps += 1;
      order.push("others");
      if (steps < 5) setImmediate(step);
    };
    setImmediate(step);
    await Promise.all([long, short]);
    assert.deepEqual(order.indexOf("short"), order.length - 1);
    assert.equal(steps, 5);
  });

  test("after a long one, behind which nobody waited, come later, too", async () => {
    let time = 0;
    const turns = new Turns(() => time);
    await turns.next();
    time += 60;
    let loops = 0;
    let counting: NodeJS.Immediate | undefined;
    const count = (): void => {
      loops += 1;
      counting = setImmediate(count);
    };
    count();
    const began = performance.now();
    await turns.next();
    clearImmediate(counting);
    const took = performance.now() - began;
    assert.ok(took > 40 && loops > 2, `${took} ms, ${loops} turns of the event loop`);
  });

  test("begin when what came meanwhile has been done, and leave the event loop its turn when that took long", async () => {
    let time = 0;
    const turns = new Turns(() => time);
    const events: string[] = [];
    let takes = 0;
    turns.before = () => {
      events.push("before");
      time += takes;
    };
    await turns.next();
    assert.deepEqual(events, ["before"]);
    takes = 10;
    const turn = turns.next().then(() => events.push("turn"));
    setImmediate(() => events.push("event loop"));
    await turn;
    assert.deepEqual(events, ["before", "before", "event loop", "turn"]);
  });
});
