/** What a worker tells of its guest through shared memory. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ControlBlock } from "../../../src/wasm/worker/control-block.js";

function ends() {
  const main = ControlBlock.create();
  return { main, worker: new ControlBlock(main.buffer) };
}

describe("a control block", () => {
  test("tells how far a guest is", () => {
    const { main, worker } = ends();
    const state = () => [main.isRunning, main.phase];
    assert.equal(main.isRunning, false);
    for (let call = 0; call < 2; call++) {
      worker.begin();
      assert.deepEqual(state(), [true, "start"]);
      worker.enterCall();
      assert.deepEqual(state(), [true, "call"]);
      if (call > 0) continue;
      worker.end();
      // A result that is on its way when its time is over is late, and no guest that could not start.
      assert.deepEqual(state(), [false, "call"]);
    }
    // As behind an interruption, behind which no worker comes to the end of its call.
    worker.begin();
    assert.deepEqual(state(), [true, "start"]);
    worker.end();
    assert.equal(main.isRunning, false);
  });

  test("keeps the beginning of standard error, and not longer than the call", () => {
    const { main, worker } = ends();
    for (const next of ["begin", "end"] as const) {
      worker.begin();
      for (const letter of "abc") worker.appendStderr(Buffer.alloc(5_000, letter));
      assert.equal(main.stderr(), "a".repeat(5_000) + "b".repeat(3_192));
      worker[next]();
      assert.equal(main.stderr(), "");
    }
  });

  test("a wake that comes before the sleep ends it", () => {
    const { main, worker } = ends();
    worker.arm();
    main.wake();
    worker.sleep();
  });
});
