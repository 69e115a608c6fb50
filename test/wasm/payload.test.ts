import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { textPayload } from "../../src/wasm/payload.js";
import { gatekeeper } from "../../src/wasm/protocols/gatekeeper/protocol.js";
import { opa } from "../../src/wasm/protocols/opa/protocol.js";
import type { ToWorker } from "../../src/wasm/run/worker/messages.js";
import { context, file, raw, testRuntime } from "./support.js";

/** Bytes that are copied with these when they are posted to a thread. */
const beside = (bytes: Uint8Array | undefined): number | undefined => bytes && bytes.buffer.byteLength - bytes.length;

test("what is posted to threads has its memory for itself", async (t) => {
  const settings = { value: { a: "ä" }, bytes: textPayload('{"a":"ä"}') };
  assert.equal(Buffer.from(settings.bytes).toString(), '{"a":"ä"}');
  assert.equal(beside(settings.bytes), 0);
  const resources = [{ kind: { apiVersion: "v1", kind: "Namespace" }, items: [] }] as never;
  for (const { dataDocument } of [opa, gatekeeper])
    for (const given of [resources, [] as never]) assert.equal(beside(dataDocument?.bytes(settings, given)), 0);

  const inputs: Uint8Array[] = [];
  const post = Worker.prototype.postMessage;
  t.mock.method(Worker.prototype, "postMessage", function (this: Worker, message: ToWorker) {
    if (message.type === "call") inputs.push(message.call.input);
    post.call(this, message);
  });
  const { runtime } = testRuntime();
  t.after(() => runtime.close());
  const policy = await runtime.load({
    id: "p",
    bytes: file("test/fixtures/trivial/wapc.wasm"),
    settings: { name: "value" },
  });
  // Longer than what is asked about on the main thread.
  await policy.evaluate(raw("x".repeat(300_000)), context());
  assert.ok(inputs.some((input) => Buffer.from(input).toString().endsWith(',"settings":{"name":"value"}}')));
  assert.deepEqual(
    inputs.map(beside),
    inputs.map(() => 0),
  );
});
