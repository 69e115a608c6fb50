import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ClusterHttp } from "../../../src/kubernetes/client/http.js";
import { findConnection } from "../../../src/kubernetes/client/index.js";
import { WatchStores } from "../../../src/kubernetes/client/watch-stores.js";
import { WATCH_TIMING } from "../../../src/kubernetes/client/watch-timing.js";
import { FakeApiServer } from "./fake-api-server.js";
import { pod, until } from "./support.js";

const PODS = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

describe("all lists together", () => {
  test("take so many bytes: those that were not asked for longest give way", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const namespace of ["a", "b", "c", "d"]) server.put("pods", pod("p", namespace, { x: "y".repeat(30_000) }));
    const now = () => performance.now();
    const http = new ClusterHttp(findConnection({ kubeconfig: server.kubeconfig(), env: {}, now }));
    const stores = new WatchStores(http, { max: 10, maxBytes: 70_000 }, { timing: WATCH_TIMING, now, note: () => {} });
    context.after(async () => {
      stores.close();
      await http.close();
    });
    const list = async (namespace: string) => (await stores.of(PODS, { namespace }).all()).length;
    assert.deepEqual([await list("a"), await list("b"), await list("a")], [1, 1, 1]);
    assert.equal(stores.size, 2);
    assert.equal(await list("c"), 1);
    assert.equal(stores.size, 2, "b has given way");
    await until("the watches", () => server.watching === 2);
    server.requests.length = 0;
    assert.deepEqual([await list("a"), await list("c")], [1, 1]);
    assert.deepEqual(server.requests, []);
    assert.equal(await list(""), 4, "one may take more, alone");
    assert.equal(stores.size, 1);
  });
});
