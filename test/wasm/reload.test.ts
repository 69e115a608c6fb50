/** What the requests of a policy notice of its next load. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LOAD_TIMEOUT_FACTOR } from "../../src/wasm/limits.js";
import { GuestThread } from "../../src/wasm/pool/thread.js";
import { heldClock } from "./pool/held-clock.js";
import { behave, file, testRuntime } from "./support.js";

const CHAOS = file("test/fixtures/chaos/wapc.wasm");
/** Its guests never begin. */
const ENDLESS = file("test/fixtures/start/wapc-loop.wasm");
const TIMEOUT_MS = 200;

test("requests of a policy that has answered do not wait behind the check of its settings", async (t) => {
  // Its time does not pass, so the guest that loops keeps the place where the check could run.
  const { runtime } = testRuntime({ workers: 1, clock: heldClock().clock });
  t.after(() => runtime.close());
  const load = (id: string) => runtime.load({ id, bytes: CHAOS, settings: {}, timeoutMs: TIMEOUT_MS });
  const [served, unknown] = [await load("p"), await load("q")];
  assert.deepEqual(await behave(served, "accept"), { verdict: "allow" });
  void behave(unknown, "loop");
  const reloaded = load("p").catch(() => {});
  for (let tries = 0; tries < 1_000 && runtime.status().waiting === 0; tries++) await sleep(5);
  assert.equal(runtime.status().waiting, 1, "the check");
  const answered = behave(served, "accept");
  assert.deepEqual(await Promise.race([answered, sleep(10_000, "waits", { ref: false })]), { verdict: "allow" });
  assert.equal(runtime.status().waiting, 1, "the check still");
  runtime.close();
  await reloaded;
});

test("checks of settings that time out tell nothing about requests", async (t) => {
  const { clock, tick } = heldClock();
  const { runtime } = testRuntime({ workers: 1, clock });
  t.after(() => runtime.close());
  const served = await runtime.load({ id: "p", bytes: CHAOS, settings: {}, timeoutMs: TIMEOUT_MS });
  assert.deepEqual(await behave(served, "accept"), { verdict: "allow" });
  const threads: GuestThread[] = [];
  const { put } = GuestThread.prototype;
  t.mock.method(GuestThread.prototype, "put", function (this: GuestThread, ...call: Parameters<GuestThread["put"]>) {
    threads.push(this);
    put.apply(this, call);
  });
  for (let loads = 1; loads <= 3; loads++) {
    const load = runtime.load({ id: "p", bytes: ENDLESS, settings: {}, timeoutMs: TIMEOUT_MS });
    const refused = assert.rejects(load, /execution time/);
    for (let tries = 0; tries < 2_000 && threads[loads - 1]?.control.isRunning !== true; tries++) await sleep(5);
    tick(LOAD_TIMEOUT_FACTOR * TIMEOUT_MS);
    await refused;
  }
  const lowered = t.mock.method(GuestThread.prototype, "lowerPriority");
  assert.deepEqual(await behave(served, "accept"), { verdict: "allow" });
  assert.deepEqual(
    lowered.mock.calls.map((call) => call.arguments),
    [],
  );
});
