/** Requests side by side, phase by phase. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Phases } from "../../src/server/phases.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Phases with a clock that each question moves on, and what has been done. */
function begun(milliseconds: number) {
  let now = 0;
  const done: string[] = [];
  const phases = new Phases(() => now);
  const request = (name: string) =>
    phases.ask(() => {
      done.push(`ask ${name}`);
      now += milliseconds;
      phases.answer(() => done.push(`answer ${name}`));
      phases.report(() => done.push(`report ${name}`));
    });
  return { phases, done, request };
}

describe("requests that come together", () => {
  test("are all asked about, then answered, then reported", async () => {
    const { done, request } = begun(0.1);
    for (const name of ["a", "b"]) request(name);
    assert.deepEqual(done, []);
    await turn();
    assert.deepEqual(done, ["ask a", "ask b", "answer a", "answer b", "report a", "report b"]);
  });

  test("wait for each other's answers no longer than about a millisecond", async () => {
    const { done, request } = begun(0.6);
    for (const name of ["a", "b", "c"]) request(name);
    await turn();
    assert.deepEqual(done, [
      ...["ask a", "ask b", "answer a", "answer b", "report a", "report b"],
      ...["ask c", "answer c", "report c"],
    ]);
  });

  test("leave the event loop its turn after ten milliseconds", async () => {
    const { done, request } = begun(6);
    for (const name of ["a", "b", "c"]) request(name);
    await turn();
    assert.deepEqual(done, ["ask a", "answer a", "report a", "ask b", "answer b", "report b"]);
    await turn();
    assert.deepEqual(done.slice(6), ["ask c", "answer c", "report c"]);
  });

  test("are answered whenever their answers come", async () => {
    const { phases, done } = begun(0);
    phases.report(() => done.push("report"));
    phases.answer(() => done.push("answer"));
    await turn();
    assert.deepEqual(done, ["answer", "report"]);
  });

  test("do not fail with one that throws", () => {
    const done: string[] = [];
    const turns: (() => void)[] = [];
    const phases = new Phases(
      () => 0,
      (run) => turns.push(run),
    );
    phases.ask(() => {
      throw new Error("one of them");
    });
    phases.ask(() => done.push("another"));
    assert.throws(() => turns.shift()?.(), /one of them/);
    turns.shift()?.();
    assert.deepEqual(done, ["another"]);
    assert.deepEqual(turns, []);
  });
});
