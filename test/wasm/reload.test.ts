/** What the requests of a policy notice of its next load. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { GuestThread } from "../../src/wasm/run/threads/thread.js";
import { behave, file, testRuntime } from "./support.js";

const CHAOS = file("test/fixtures/chaos/wapc.wasm");
/** Its guests never begin. */
const ENDLESS = file("test/fixtures/start/wapc-loop.wasm");
const TIMEOUT_MS = 100;

test("requests of a policy do not wait behind the check of its settings", async (t) => {
  const { runtime } = testRuntime({ workers: 1 });
  t.after(() => runtime.close());
  const served = await runtime.load({ id: "p", bytes: CHAOS, settings: {} });
  const reloaded = assert.rejects(
    runtime.load({ id: "p", bytes: ENDLESS, settings: {}, timeoutMs: 600_000 }),
    /shutting down/,
  );
  while (runtime.status().running === 0) await sleep(5);
  assert.deepEqual(await behave(served, "accept"), { verdict: "allow" });
  assert.equal(runtime.status().running, 1, "the check still");
  runtime.close();
  await reloaded;
});

test("checks of settings that time out tell nothing about requests", async (t) => {
  const { runtime } = testRuntime({ workers: 1 });
  t.after(() => runtime.close());
  const load = (bytes: Uint8Array) => runtime.load({ id: "p", bytes, settings: {}, timeoutMs: TIMEOUT_MS });
  const served = await load(CHAOS);
  for (let loads = 1; loads <= 3; loads++) await assert.rejects(load(ENDLESS), /execution time/);
  const begun = t.mock.method(GuestThread.prototype, "begin");
  // It takes too long for the main thread.
  assert.equal((await behave(served, "loop")).verdict, "error");
  // A policy whose calls time out has none.
  assert.ok((begun.mock.calls[0]?.arguments[1].earlyMs ?? 0) > 0);
  await assert.rejects(load(ENDLESS), /execution time/);
  assert.equal(begun.mock.calls[1]?.arguments[1].earlyMs, 0);
});
