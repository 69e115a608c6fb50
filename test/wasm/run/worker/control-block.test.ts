/** What a worker and the main thread tell each other through shared memory. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ControlBlock } from "../../../../src/wasm/run/worker/control-block.js";

function ends() {
  const main = ControlBlock.create();
  return { main, worker: new ControlBlock(main.buffer) };
}

describe("a control block", () => {
  test("tells how far a guest is", () => {
    const { main, worker } = ends();
    for (let call = 0; call < 2; call++) {
      worker.begin();
      assert.equal(main.phase, "start");
      worker.enterCall();
      assert.equal(main.phase, "call");
    }
  });

  test("a wake that comes before the sleep ends it", () => {
    const { main, worker } = ends();
    worker.arm();
    main.wake();
    worker.sleep(Number.POSITIVE_INFINITY);
  });

  test("an abort ends a sleep too, and is about one call", () => {
    const { main, worker } = ends();
    worker.arm();
    main.abort(7);
    worker.sleep(Number.POSITIVE_INFINITY);
    assert.deepEqual([worker.isAborted(7), worker.isAborted(8)], [true, false]);
  });
});
