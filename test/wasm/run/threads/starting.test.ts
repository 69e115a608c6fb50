/** The pool when its threads can't even start. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { emptySnapshot } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import type { ExecutionMode } from "../../../../src/wasm/run/guest/call.js";
import { systemClock } from "../../../../src/wasm/run/threads/clock.js";
import { WorkerPool } from "../../../../src/wasm/run/threads/pool.js";
import { file } from "../../support.js";

test("a call without a deadline does not wait for threads that never start", { timeout: 20_000 }, async (t) => {
  const pool = new WorkerPool(1, systemClock);
  t.after(() => pool.close());
  // Threads load the code for this kind of guest before they report ready, and there is none.
  const mode = "none" as ExecutionMode;
  const call = () =>
    pool.run({
      key: "p",
      module: { id: 1, module: new WebAssembly.Module(new Uint8Array(file("test/fixtures/trivial/wapc.wasm"))), mode },
      call: { operation: "validate", input: Buffer.from("{}") },
      limits: DEFAULT_GUEST_LIMITS,
      deadline: Number.POSITIVE_INFINITY,
      onHostCall: () => Promise.reject(new Error("not asked")),
      onLog: () => {},
    });
  for (const result of await Promise.all([call(), call()])) {
    assert.equal(result.kind, "refused");
    assert.match(result.kind === "refused" ? result.text : "", /^no worker thread starts: ./);
  }
  // Later calls try again.
  assert.equal((await call()).kind, "refused");
});

test("a memory that can't be had fails its call, not the thread", async (t) => {
  const pool = new WorkerPool(1, systemClock);
  t.after(() => pool.close());
  // More than there are addresses.
  const importedMemory = { initial: 70_000, maximum: 70_000 };
  const module = new WebAssembly.Module(new Uint8Array(file("test/fixtures/trivial/wapc.wasm")));
  const result = await pool.run({
    key: "p",
    module: { id: 1, module, mode: "kubewarden-wapc", importedMemory, image: emptySnapshot(70_000) },
    call: { operation: "validate", input: Buffer.from("{}") },
    limits: DEFAULT_GUEST_LIMITS,
    deadline: Number.POSITIVE_INFINITY,
    onHostCall: () => Promise.reject(new Error("not asked")),
    onLog: () => {},
  });
  assert.equal(result.kind, "out-of-memory");
  assert.equal(pool.status().crashes, 0);
});
