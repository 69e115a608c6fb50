import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { describe, type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { type ByteLog, MemoryLog } from "../../../src/kubernetes/client/byte-log.js";
import { LogFolder } from "../../../src/kubernetes/client/shared/keeper.js";
import { StoredItems } from "../../../src/kubernetes/client/stored-items.js";
import { type TextPieces, wholeOf } from "../../../src/kubernetes/client/text-pieces.js";
import { JsonPieces, jsonOf } from "../../../src/wasm/host/host.js";
import { ListTexts } from "../../../src/wasm/host/kubernetes/list-texts.js";

const KIND = { apiVersion: "v1", kind: "ConfigMap" };

/** A store of so many objects, of which some were changed since: its parts stand in no order. */
function store(count: number, newLog: () => ByteLog): StoredItems {
  const items = new StoredItems(KIND, newLog);
  const put = (i: number, value: string) => items.put({ metadata: { name: `c${i}`, namespace: "n" }, data: { value } });
  for (let i = 0; i < count; i++) put(i, "ü".repeat(i % 700));
  for (let i = 0; i < count; i += 7) put(i, "changed");
  return items;
}

const logs: readonly [string, (context: TestContext) => () => ByteLog][] = [
  ["memory", () => () => new MemoryLog()],
  [
    "files",
    (context) => {
      const folder = new LogFolder();
      context.after(() => folder.remove());
      return () => folder.newLog();
    },
  ],
];

for (const [where, logsOf] of logs) {
  describe(`a list whose texts stand in ${where}`, () => {
    test("is put together from its pieces as it is", async (context) => {
      for (const count of [0, 1, 2, 3_000]) {
        const items = store(count, logsOf(context));
        const answer = await new ListTexts().answer(KIND, items.texts());
        assert.ok(answer instanceof JsonPieces);
        const { metadata, ...list } = JSON.parse(jsonOf(answer)) as Record<string, unknown>;
        assert.deepEqual(list, { apiVersion: "v1", kind: "ConfigMapList", items: items.all() });
        assert.equal(wholeOf(answer.pieces).length, answer.pieces.length);
      }
    });

    test("is put together by another thread", async (context) => {
      const pieces = store(500, logsOf(context)).texts().pieces?.(Buffer.from("["), Buffer.from("]"));
      assert.ok(pieces);
      assert.equal(await inThread(pieces), Buffer.from(wholeOf(pieces)).toString());
    });
  });
}

/** How often this process has asked the system to read something. */
const readings = (): number => Number(/^syscr: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test("texts in files are read together, in whatever order they are wanted", {
  skip: !existsSync("/proc/self/io"),
}, (context) => {
  const folder = new LogFolder();
  context.after(() => folder.remove());
  const items = new StoredItems(KIND, () => folder.newLog());
  for (let i = 0; i < 2_000; i++) {
    items.put({ metadata: { name: `c${(i * 7919) % 2_000}`, namespace: "n" }, data: { value: "x".repeat(1_000) } });
  }
  const pieces = items.texts().pieces?.(Buffer.from("["), Buffer.from("]"));
  assert.ok(pieces);
  const before = readings();
  const whole = JSON.parse(Buffer.from(wholeOf(pieces)).toString());
  assert.ok(readings() - before < 200, `${readings() - before} readings`);
  assert.deepEqual(whole, items.all());
});

test("a list that does not fit into the guest's memory is refused, whatever it would be made from", async () => {
  const texts = store(10, () => new MemoryLog()).texts();
  const answer = await new ListTexts().answer(KIND, texts);
  assert.ok(answer instanceof JsonPieces);
  const { length } = answer.pieces;
  await new ListTexts().answer(KIND, texts, [], length);
  await assert.rejects(new ListTexts().answer(KIND, texts, [], length - 1), new RegExp(`has ${length} bytes`));
});

async function inThread(pieces: TextPieces): Promise<unknown> {
  const module = new URL("../../../src/kubernetes/client/text-pieces.js", import.meta.url).href;
  const code = `const { parentPort, workerData } = require("node:worker_threads");
    import(${JSON.stringify(module)}).then(({ wholeOf }) => parentPort.postMessage(Buffer.from(wholeOf(workerData)).toString()));`;
  const worker = new Worker(code, { eval: true, workerData: pieces });
  const [text] = (await once(worker, "message")) as [unknown];
  await worker.terminate();
  return text;
}
