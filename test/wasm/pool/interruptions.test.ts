/** Guests that are broken off, in whatever they do, and the threads that go on behind them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Capability } from "../../../src/host-capabilities/host.js";
import { admission, behave, context, file, raw, testRuntime } from "../support.js";

const PROTOCOLS = ["extism", "wapc", "wasi"] as const;
const echo: Capability = {
  namespace: "test",
  operations: { echo: { run: async (payload) => new Promise((resolve) => setTimeout(() => resolve(payload), 5)) } },
};
const NEVER_ALLOWED = /^(loop|oom|stack|trap|host-then-loop|large)/;

/** How many of this process's threads have the lowest priority. */
function lowest(): number {
  const isLowest = (task: string): boolean => {
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, "utf8");
      // The thread's name may hold spaces, so the fields are counted from behind it.
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16] === "19";
    } catch {
      // It has ended meanwhile.
      return false;
    }
  };
  return readdirSync("/proc/self/task").filter(isLowest).length;
}

/** Waits until there are so many, or says how many there are all the same. */
async function untilLowest(count: number): Promise<number> {
  for (let tries = 0; tries < 200 && lowest() !== count; tries++) await sleep(10);
  return lowest();
}

describe("guests that are broken off", () => {
  for (const protocol of PROTOCOLS)
    test(`${protocol}: the thread serves on, and the next instance is a new one`, async (t) => {
      const { runtime } = testRuntime({ workers: 1, capabilityList: [echo] });
      t.after(() => runtime.close());
      const bytes = file(`test/fixtures/chaos/${protocol}.wasm`);
      const policy = await runtime.load({ id: "p", bytes, settings: {}, hostCapabilities: ["*"], timeoutMs: 300 });
      for (const mode of ["loop", "host-then-loop:kubewarden:test:echo:1"]) {
        const outcome = await policy.evaluate(raw({ mode }), context());
        assert.ok(outcome.verdict === "error" && outcome.cause === "timeout");
        assert.deepEqual(await behave(policy, "accept"), { verdict: "allow" });
      }
      const { recycled, timeouts, crashes } = runtime.status();
      assert.deepEqual({ recycled, timeouts, crashes }, { recycled: 0, timeouts: 2, crashes: 0 });
    });

  test("in the middle of anything, never bring the process down, another call to harm, or an acceptance", async (t) => {
    const { runtime } = testRuntime({ workers: 2, capabilityList: [echo] });
    t.after(() => runtime.close());
    const load = (protocol: string, timeoutMs: number) => {
      const bytes = file(`test/fixtures/chaos/${protocol}.wasm`);
      const id = `${protocol} ${timeoutMs}`;
      return runtime.load({ id, bytes, settings: {}, hostCapabilities: ["*"], timeoutMs });
    };
    const honest = await Promise.all(PROTOCOLS.map((protocol) => load(protocol, 30_000)));
    const hostile = await Promise.all(PROTOCOLS.flatMap((protocol) => [load(protocol, 100), load(protocol, 150)]));
    const modes = [
      ...["loop", "log-flood", "host-flood", "oom", "large", "stack", "trap"],
      "host-then-loop:kubewarden:test:echo:1",
    ];
    const until = performance.now() + 3_000;
    const attack = async (start: number) => {
      for (let call = start; performance.now() < until; call++) {
        const mode = modes[call % modes.length] ?? "loop";
        const gone = new AbortController();
        if (call % 5 === 0) setTimeout(() => gone.abort(), 7);
        const policy = hostile[(call * 5) % hostile.length];
        const outcome = await policy?.evaluate(raw({ mode }), { ...context(), signal: gone.signal });
        if (NEVER_ALLOWED.test(mode)) assert.equal(outcome?.verdict, "error", mode);
      }
    };
    const work = async (index: number) => {
      for (let call = 0; performance.now() < until; call++) {
        const policy = honest[(call + index) % honest.length];
        assert.deepEqual(await policy?.evaluate(admission({ spec: { call } }), context()), { verdict: "allow" });
      }
    };
    await Promise.all([attack(0), attack(1), attack(2), attack(3), work(0), work(1), work(2)]);
    assert.ok(runtime.status().timeouts > 10);
    assert.equal(runtime.status().crashes, 0);
  });

  test("policies that run into their limit again and again get threads of the lowest priority, until a call ends well", {
    skip: process.platform !== "linux" && "threads have priorities of their own on Linux only",
  }, async (t) => {
    const { runtime } = testRuntime({ workers: 1 });
    t.after(() => runtime.close());
    const bytes = file("test/fixtures/chaos/wapc.wasm");
    const policy = await runtime.load({ id: "p", bytes, settings: {}, timeoutMs: 300 });
    // Those of other tests come to their end.
    assert.equal(await untilLowest(0), 0);
    for (let call = 0; call < 2; call++) await behave(policy, "loop");
    await sleep(50);
    assert.equal(lowest(), 0);
    for (let call = 0; call < 3; call++) {
      await behave(policy, "loop");
      // Until the thread is at rest; without that another one would take the next call.
      while (runtime.status().threads > runtime.status().idle) await sleep(10);
      assert.equal(await untilLowest(1), 1);
    }
    assert.deepEqual(await behave(policy, "accept"), { verdict: "allow" });
    await behave(policy, "loop");
    await sleep(50);
    assert.equal(lowest(), 1, "a call that ends well ends the low priority of the policy's calls");
  });
});
