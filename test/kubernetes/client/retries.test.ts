import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Outage, type Readiness } from "../../../src/kubernetes/client/outage.js";
import { Retries } from "../../../src/kubernetes/client/retries.js";
import { TestClock } from "../../support/test-clock.js";
import { until } from "./support.js";

function retries(random: () => number = () => 0) {
  const clock = new TestClock();
  const due: string[] = [];
  return { clock, due, retries: new Retries(clock, random, (key) => due.push(key)) };
}

describe("retries", () => {
  test("come later and later, at most five minutes, spread by half", () => {
    for (const [random, first, last] of [
      [0, 500, 150_000],
      [0.9999, 1_000, 300_000],
    ] as const) {
      const { retries: each } = retries(() => random);
      const waits = Array.from({ length: 40 }, () => Math.round(each.failed("a")));
      assert.deepEqual(
        [waits[0], waits[1], waits.at(-1)],
        [first, first * 2, Math.round(last * (random === 0 ? 1 : 0.99995))],
      );
    }
  });

  test("come once for each failure, not before their time", () => {
    const { clock, due, retries: some } = retries();
    some.failed("a");
    some.failed("b");
    some.failed("b");
    clock.move(400);
    assert.deepEqual(due, []);
    clock.move(700);
    assert.deepEqual(due, ["a", "b"]);
    clock.move(1_000_000);
    assert.deepEqual(due, ["a", "b"]);
  });

  test("do not come for what was forgotten, which begins anew", () => {
    const { clock, due, retries: some } = retries();
    some.failed("a");
    some.failed("a");
    some.forget("a");
    assert.equal(some.size, 0);
    clock.move(1_000_000);
    assert.deepEqual(due, []);
    assert.equal(some.failed("a"), 500);
  });

  test("are due at once when the API server is back, and counted anew", async (context) => {
    const answers: Readiness[] = ["away", "ready"];
    const outage = new Outage(async () => answers.shift() ?? "ready");
    const due: string[] = [];
    const some = new Retries(
      new TestClock(),
      () => 0,
      (key) => due.push(key),
      outage,
    );
    context.after(() => some.stop());
    for (let i = 0; i < 6; i++) some.failed("a");
    outage.lost();
    await until("its return", () => due.length === 1);
    assert.equal(some.failed("a"), 500);
  });

  test("need one timer, however many wait", () => {
    const { clock, due, retries: many } = retries(Math.random);
    for (let i = 0; i < 10_000; i++) many.failed(`k${i}`);
    assert.ok(clock.timers <= 1);
    clock.move(2_000);
    assert.equal(due.length, 10_000);
    many.failed("last");
    many.stop();
    clock.move(1_000_000);
    assert.equal(due.length, 10_000);
    assert.equal(clock.timers, 0);
  });
});
