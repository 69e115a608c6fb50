import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { sharedClock } from "../../../../src/wasm/run/worker/shared-clock.js";

test("the time is the same in every thread, whenever it began", async (t) => {
  const now = sharedClock();
  await sleep(50);
  const url = JSON.stringify(new URL("../../../../src/wasm/run/worker/shared-clock.js", import.meta.url));
  const word = new Int32Array(new SharedArrayBuffer(4));
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(${url}).then(({ sharedClock }) => {
      const now = sharedClock();
      parentPort.postMessage("ready");
      Atomics.wait(workerData, 0, 0);
      parentPort.postMessage(now());
    });`;
  const worker = new Worker(script, { eval: true, workerData: word });
  t.after(() => worker.terminate());
  const next = () => new Promise((resolve) => worker.once("message", resolve));
  await next();
  const answer = next();
  const before = now();
  Atomics.store(word, 0, 1);
  Atomics.notify(word, 0);
  const there = Number(await answer);
  const after = now();
  // It looked between our two looks; either clock is off by the time between its own two looks.
  assert.ok(there >= before - 1 && there <= after + 1, `${before} ${there} ${after}`);
});
