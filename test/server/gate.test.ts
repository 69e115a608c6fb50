import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import { Gate, type Refusal } from "../../src/server/gate.js";

/** A gate that is asked in turns; what happens is noted. */
function gateOf(concurrency: number, queue: number, queueTimeout = 1_000) {
  const events: string[] = [];
  let at = 0;
  const gate = new Gate({ concurrency, queue, queueTimeout }, () => at);
  return {
    gate,
    events,
    pass: (milliseconds: number) => {
      at += milliseconds;
      mock.timers.tick(milliseconds);
    },
    admit: (name: string, policy = "p", deadline = Number.POSITIVE_INFINITY) =>
      gate.admit({
        policy,
        deadline,
        enter: (waited: number) => events.push(`${name} in after ${waited}`),
        refuse: (why: Refusal) => events.push(`${name} ${why}`),
      }),
  };
}

describe("a gate", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  test("lets in as many as there are places, half of them for one policy, and at least one", () => {
    const { gate, events, admit } = gateOf(4, 1);
    for (const name of ["a1", "a2", "a3"]) admit(name, "a");
    assert.deepEqual([events, gate.busy, gate.waiting], [["a1 in after 0", "a2 in after 0"], 2, 1]);
    for (const name of ["b1", "b2", "c1"]) admit(name, name[0]);
    assert.deepEqual(events.slice(2), ["b1 in after 0", "b2 in after 0", "c1 full"]);
    assert.deepEqual([gate.busy, gate.waiting], [4, 1]);
    const alone = gateOf(1, 0);
    alone.admit("only");
    alone.admit("other", "q");
    assert.deepEqual(alone.events, ["only in after 0", "other full"]);
    const odd = gateOf(3, 0);
    for (const name of ["1", "2", "3"]) odd.admit(name);
    assert.deepEqual(odd.events, ["1 in after 0", "2 in after 0", "3 full"]);
  });

  test("has no line without one, and a line as long as it is said to be", () => {
    const { events, admit, gate } = gateOf(1, 2);
    for (const name of ["1", "2", "3", "4"]) admit(name);
    assert.deepEqual([events, gate.waiting], [["1 in after 0", "4 full"], 2]);
  });

  test("gives places back in order, to those that may have them, and says how long they waited", () => {
    const { gate, events, admit, pass } = gateOf(2, 10);
    admit("a1", "a");
    admit("b1", "b");
    pass(5);
    for (const name of ["a2", "a3", "b2"]) admit(name, name[0]);
    events.length = 0;
    pass(30);
    gate.leave("b");
    assert.deepEqual(events, ["b2 in after 30"]);
    pass(10);
    gate.leave("a");
    assert.deepEqual(events, ["b2 in after 30", "a2 in after 40"]);
    assert.deepEqual([gate.busy, gate.waiting], [2, 1]);
    gate.leave("a");
    gate.leave("a");
    gate.leave("b");
    assert.deepEqual([gate.busy, gate.waiting], [0, 0]);
  });

  test("lets nobody in beyond its places when one is given back while others were taken without asking", () => {
    const { gate, events, admit } = gateOf(2, 10);
    admit("a1", "a");
    gate.take("b");
    gate.take("b");
    admit("c1", "c");
    gate.leave("a");
    assert.deepEqual([events, gate.busy, gate.waiting], [["a1 in after 0"], 2, 1]);
    gate.leave("b");
    assert.deepEqual([events, gate.busy, gate.waiting], [["a1 in after 0", "c1 in after 0"], 2, 0]);
  });

  test("goes on counting the places of a policy that gives back one of several", () => {
    const { gate, events, admit } = gateOf(4, 10);
    for (const name of ["a1", "a2"]) admit(name, "a");
    gate.leave("a");
    events.length = 0;
    for (const name of ["a3", "a4"]) admit(name, "a");
    assert.deepEqual([events, gate.busy, gate.waiting], [["a3 in after 0"], 2, 1]);
  });

  test("fills every place that has become free", () => {
    const { gate, events, admit } = gateOf(2, 10);
    gate.take("x");
    gate.take("x");
    gate.take("x");
    for (const name of ["a1", "b1"]) admit(name, name[0]);
    for (let left = 3; left > 0; left--) gate.leave("x");
    assert.deepEqual([events, gate.busy, gate.waiting], [["a1 in after 0", "b1 in after 0"], 2, 0]);
  });

  test("refuses who has waited as long as the line lasts, or as its client waits", () => {
    const { gate, events, admit, pass } = gateOf(1, 10, 100);
    admit("1");
    admit("2");
    pass(20);
    admit("3", "p", 60);
    events.length = 0;
    pass(39);
    assert.deepEqual([events, gate.waiting], [[], 2]);
    pass(1);
    assert.deepEqual([events, gate.waiting], [["3 late"], 1]);
    pass(40);
    assert.deepEqual([events, gate.waiting], [["3 late", "2 late"], 0]);
    gate.leave("p");
    assert.equal(gate.busy, 0);
  });

  test("forgets who leaves the line, and refuses nobody that was let in", () => {
    const { gate, events, admit, pass } = gateOf(1, 10, 100);
    assert.equal(admit("1"), undefined);
    const forget = admit("2");
    admit("3");
    forget?.();
    events.length = 0;
    gate.leave("p");
    pass(1_000);
    assert.deepEqual([events, gate.busy, gate.waiting], [["3 in after 0"], 1, 0]);
  });
});
