/** How long a module may take to check its settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LOAD_TIMEOUT_FACTOR } from "../../src/wasm/limits.js";
import { file, testRuntime } from "./support.js";

const TIMEOUT_MS = 200;

test("the check of settings has more time than a call, because the engine compiles in it, but not without end", async (t) => {
  const { runtime } = testRuntime({ workers: 1 });
  t.after(() => runtime.close());
  const begun = performance.now();
  const bytes = file("test/fixtures/start/wapc-loop.wasm");
  await assert.rejects(runtime.load({ id: "slow", bytes, settings: {}, timeoutMs: TIMEOUT_MS }), /execution time/);
  assert.ok(performance.now() - begun >= LOAD_TIMEOUT_FACTOR * TIMEOUT_MS);
});
