import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scanned } from "../../../src/offline/reports/finding.js";
import type { Batch } from "../../../src/offline/scan/split/batch.js";
import { ScanThreads } from "../../../src/offline/scan/threads.js";

const script = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const batch = (form: Batch["form"], length: number): Batch => ({
  file: "f",
  form,
  bytes: new Uint8Array(length),
  ends: [length],
  lines: [1],
});

test("what a thread leaves that its limit of memory ends is scanned here, all of it", async (context) => {
  const dies = script(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", () => { const all = []; for (;;) all.push(new Array(10000).fill({})); });`);
  const own: number[] = [];
  const threads = new ScanThreads(1, dies, {}, async ({ bytes }) => {
    own.push(bytes.length);
    return [] as Scanned[];
  });
  context.after(() => threads.close());
  await Promise.all([threads.scan(batch("json", 10)), threads.scan(batch("json", 20))]);
  assert.deepEqual(own, [10, 20]);
  assert.equal(threads.scan(batch("json", 30)), undefined, "a thread that has ended takes no more");
});

test("a thread takes no YAML whose tree would take more memory than it has", async (context) => {
  const answers = script(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ id }) => parentPort.postMessage({ id, scanned: [] }));`);
  const threads = new ScanThreads(1, answers, {}, () => assert.fail("nothing is left"));
  context.after(() => threads.close());
  assert.equal(threads.scan(batch("yaml", 1024 * 1024)), undefined);
  assert.deepEqual(await threads.scan(batch("json", 1024 * 1024)), []);
});
