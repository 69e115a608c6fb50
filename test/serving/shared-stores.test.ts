import assert from "node:assert/strict";
import cluster from "node:cluster";
import { test } from "node:test";
import { keepStores } from "../../src/serving/shared-stores.js";
import type { Logger } from "../../src/telemetry/logger.js";
import { until } from "../kubernetes/client/support.js";

const RESOURCE = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** A process that asks for a list. */
function asking(id: number, dead = false) {
  const heard: unknown[] = [];
  const worker = { id, isConnected: () => true, isDead: () => dead, send: (message: unknown) => heard.push(message) };
  const ask = (): void => {
    const message = { type: "open", id: 7, resource: RESOURCE, selection: { kind: "list", scope: { namespace: "" } } };
    cluster.emit("message", worker as never, { type: "stores", message });
  };
  return { heard, ask };
}

const LOGGER = { warn: () => {} } as unknown as Logger;

test("who asks for a list is told that there is no way to the cluster, each time", async (context) => {
  const end = await keepStores({ kubeconfig: "/nowhere/kubeconfig" }, LOGGER);
  context.after(end);
  const [one, other, dead] = [asking(1), asking(2), asking(3, true)];
  for (const { ask } of [one, other, dead]) ask();
  await until("the answers", () => one.heard.length === 1 && other.heard.length === 1);
  one.ask();
  await until("the other answer", () => one.heard.length === 2);
  assert.match(JSON.stringify(one.heard[1]), /"type":"problem","id":7,.*"final":true/);
  assert.deepEqual(dead.heard, []);
});
