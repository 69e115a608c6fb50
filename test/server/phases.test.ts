/** Requests side by side, phase by phase. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type PhasedRequest, Phases } from "../../src/server/phases.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A request that notes its steps. */
const named = (name: string, done: string[], others: Partial<PhasedRequest> = {}): PhasedRequest => ({
  bytes: 0,
  read: () => done.push(`read ${name}`),
  ask: () => done.push(`ask ${name}`),
  answer: () => done.push(`answer ${name}`),
  report: () => done.push(`report ${name}`),
  ...others,
});

/** Phases with a clock that reading and asking move on, and what has been done. */
function begun(reading: number, asking: number, bytes = 0) {
  let now = 0;
  const done: string[] = [];
  const phases = new Phases(() => now);
  const request = (name: string) => {
    const one = named(name, done, {
      bytes,
      read: () => {
        done.push(`read ${name}`);
        now += reading;
        phases.ask(one);
      },
      ask: () => {
        done.push(`ask ${name}`);
        now += asking;
        phases.answer(one);
        phases.report(one);
      },
    });
    phases.read(one);
  };
  return { phases, done, request };
}

/** What is done for each of these requests, phase by phase. */
const together = (names: string) =>
  ["read", "ask", "answer", "report"].flatMap((what) => [...names].map((name) => `${what} ${name}`));

describe("requests that come together", () => {
  test("are all read, then asked about, then answered, then reported", async () => {
    const { done, request } = begun(0.1, 0.1);
    for (const name of "ab") request(name);
    assert.deepEqual(done, []);
    await turn();
    assert.deepEqual(done, together("ab"));
  });

  test("wait for each other's answers no longer than about a millisecond", async () => {
    const { done, request } = begun(0.1, 0.6);
    for (const name of "abc") request(name);
    await turn();
    assert.deepEqual(done, ["read a", "read b", "read c", ...together("ab").slice(2), ...together("c").slice(1)]);
  });

  test("wait no longer than that while others are read", async () => {
    const { done, request } = begun(0.6, 0.1);
    for (const name of "abc") request(name);
    await turn();
    assert.deepEqual(done, [...together("ab"), ...together("c")]);
  });

  test("leave the event loop its turn after ten milliseconds", async () => {
    for (const [reading, asking, last] of [
      [6, 0, "read b"],
      [0.1, 6, "report b"],
    ] as const) {
      const { done, request } = begun(reading, asking);
      for (const name of "abc") request(name);
      await turn();
      assert.equal(done.at(-1), last);
      await turn();
      assert.equal(done.at(-1), "report c");
    }
  });

  test("are answered before somebody long begins, and once", async () => {
    const { phases, done, request } = begun(0.1, 0.1);
    request("a");
    phases.run();
    assert.deepEqual(done, together("a"));
    phases.run();
    await turn();
    assert.deepEqual(done, together("a"));
    request("b");
    await turn();
    assert.deepEqual(done.slice(4), together("b"));
  });

  test("are read at once when many bytes of them wait", async () => {
    const MIB = 1024 * 1024;
    const { done, request } = begun(0.1, 0.1, 5 * MIB);
    request("a");
    assert.deepEqual(done, []);
    request("b");
    assert.deepEqual(done, together("ab"));
    request("c");
    assert.deepEqual(done.slice(8), []);
    await turn();
    assert.deepEqual(done.slice(8), together("c"));
  });

  test("are not read while some that have been read are not asked about", async () => {
    const { done, request } = begun(0.1, 6);
    for (const name of "abcdefghijklmn") request(name);
    await turn();
    await turn();
    const read = done.filter((what) => what.startsWith("read")).length;
    const asked = done.filter((what) => what.startsWith("ask")).length;
    assert.ok(read - asked <= 10, `${read} read, ${asked} asked about`);
    assert.equal(done.includes("read n"), false);
  });

  test("are answered first, before others are read or asked about", async () => {
    const { phases, done, request } = begun(0.1, 0.1);
    request("a");
    phases.answer(named("of a thread", done));
    await turn();
    assert.deepEqual(done, ["answer of a thread", ...together("a")]);
  });

  test("are answered whenever their answers come", async () => {
    const { phases, done } = begun(0, 0);
    const one = named("a", done);
    phases.report(one);
    phases.answer(one);
    await turn();
    assert.deepEqual(done, ["answer a", "report a"]);
  });

  test("do not fail with one that throws", () => {
    const done: string[] = [];
    const turns: (() => void)[] = [];
    const phases = new Phases(
      () => 0,
      (run) => turns.push(run),
    );
    const read = (): never => {
      throw new Error("one of them");
    };
    phases.read(named("one", done, { read }));
    phases.read(named("another", done));
    assert.throws(() => turns.shift()?.(), /one of them/);
    turns.shift()?.();
    assert.deepEqual(done, ["read another"]);
    assert.deepEqual(turns, []);
  });
});
