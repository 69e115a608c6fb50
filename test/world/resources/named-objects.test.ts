import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { FakeApiServer, json } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap" };
const PATH = "/api/v1/namespaces/n/configmaps";

const configMap = (name: string, value: string, namespace = "n") => ({
  metadata: { name, namespace },
  data: { value },
});

/** A server, and what policies find in it by name. */
async function cluster(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const client = connect(context, server);
  const get = async (name: string) => client.resources.get(CONFIG_MAP, "n", name);
  /** What it says, or that there is none. */
  const value = async (name: string) => {
    const found = await get(name);
    assert.ok(!(found instanceof LookupFailure), String(found));
    return (found?.data as { value: string } | undefined)?.value ?? "none";
  };
  return { server, client, get, value };
}

describe("an object that is asked for by name", () => {
  test("is watched alone: its kind is not listed", async (context) => {
    const { server, client, value } = await cluster(context);
    server.put("configmaps", configMap("a", "1"));
    server.put("configmaps", configMap("b", "1"));
    assert.equal(await value("a"), "1");
    await until("the watch", () => server.watching === 1);
    server.put("configmaps", configMap("a", "2"));
    await until("the change", async () => (await value("a")) === "2");
    server.requests.length = 0;
    assert.equal(await value("a"), "2");
    assert.deepEqual(server.requests, []);
    assert.equal(client.stores, 1);
    assert.deepEqual(server.asked("GET /api/v1/configmaps"), []);
  });

  test("is found in the list of its kind where that is watched", async (context) => {
    const { server, client, value } = await cluster(context);
    server.put("configmaps", configMap("a", "1"));
    await client.resources.list(CONFIG_MAP, "n");
    server.requests.length = 0;
    assert.equal(await value("a"), "1");
    assert.deepEqual([server.requests, client.stores], [[], 1]);
  });

  test("has its kind watched when there are too many of them, and those alone no more", async (context) => {
    const { server, client, value } = await cluster(context);
    for (let i = 0; i < 70; i++) server.put("configmaps", configMap(`c${i}`, String(i)));
    for (let i = 0; i < 70; i++) assert.equal(await value(`c${i}`), String(i));
    await until("all watches", () => server.watching === 65);
    assert.equal(client.stores, 65, "64 names and the kind");
    for (let i = 0; i < 70; i++) assert.equal(await value(`c${i}`), String(i));
    await until("one watch", () => server.watching === 1);
    assert.equal(client.stores, 1);
  });

  test("makes room for others when nobody has asked for it for long", async (context) => {
    const { server, client, value } = await cluster(context);
    for (let i = 0; i < 64; i++) await value(`c${i}`);
    client.skip(600_001);
    await value("another");
    await until("one watch", () => server.watching === 1);
    assert.equal(client.stores, 1);
    assert.deepEqual(server.asked("GET /api/v1/configmaps"), []);
  });

  test("is found where neither it nor its kind may be watched or listed", async (context) => {
    const { server, value } = await cluster(context);
    server.forbidden.add("list configmaps").add("watch configmaps");
    server.put("configmaps", configMap("a", "1"));
    assert.equal(await value("a"), "1");
    assert.equal(await value("x"), "none");
  });

  test("of a name with signs that mean something in a selector is still that object", async (context) => {
    const { server, client } = await cluster(context);
    const role = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" };
    server.put("clusterroles", { metadata: { name: "a,b=c" } });
    const found = await client.resources.get(role, "", "a,b=c");
    assert.ok(found !== undefined && !(found instanceof LookupFailure));
    const [asked] = server.asked("GET /apis/rbac.authorization.k8s.io/v1/clusterroles?fieldSelector");
    assert.match(asked ?? "", /metadata\.name=a\\,b\\=c&/);
  });
});

describe("an older state", () => {
  test("of an object that was deleted does not come back from what was read by name", async (context) => {
    const { server, client, value } = await cluster(context);
    server.put("configmaps", configMap("a", "old"));
    let release = (): void => {};
    // Its list takes a while, so that it is read by name first; that is kept for five seconds.
    server.special.set(PATH, (_, response) => {
      release = () =>
        json(response, 200, { metadata: { resourceVersion: "101" }, items: [server.object("configmaps", "a", "n")] });
    });
    assert.equal(await value("a"), "old");
    server.special.clear();
    release();
    await until("the watch", () => server.watching === 1);
    server.remove("configmaps", "a", "n");
    await until("the removal", () => client.cluster.stores.named(RESOURCE, "n", "a").version === "102");
    assert.equal(await value("a"), "none");
  });

  test("of an object that has changed does not come from a watch that is behind", async (context) => {
    const { server, value } = await cluster(context);
    server.put("configmaps", configMap("a", "old"));
    const old = server.object("configmaps", "a", "n");
    server.put("configmaps", configMap("a", "new"));
    server.special.set(PATH, (request, response) => {
      // A list from before; the watch brings nothing yet.
      if (request.url?.includes("watch=")) return void response.writeHead(200).flushHeaders();
      json(response, 200, { metadata: { resourceVersion: "101" }, items: [old] });
    });
    assert.equal(await value("a"), "new", "read by name");
    await until("the watch", () => server.asked(`GET ${PATH}?fieldSelector=metadata.name=a&watch`).length > 0);
    assert.equal(await value("a"), "new");
  });

  test("of an object that is watched does not come from the list of its kind", async (context) => {
    const { server, client, value } = await cluster(context);
    server.put("configmaps", configMap("a", "old"));
    const old = server.object("configmaps", "a", "n");
    assert.equal(await value("a"), "old");
    await until("the watch", () => server.watching === 1);
    server.put("configmaps", configMap("a", "new"));
    await until("the change", async () => (await value("a")) === "new");
    // The list is from before, and its watch brings nothing yet.
    server.special.set("/api/v1/configmaps", (request, response) => {
      if (request.url?.includes("watch=")) return void response.writeHead(200).flushHeaders();
      json(response, 200, { metadata: { resourceVersion: "101" }, items: [old] });
    });
    await client.resources.list(CONFIG_MAP, "n");
    assert.equal(await value("a"), "new");
  });

  test("is not taken from a list that is older than what the watch had brought", async (context) => {
    const { server, client, value } = await cluster(context);
    server.put("configmaps", configMap("a", "old"));
    await client.resources.list(CONFIG_MAP, "n");
    await until("the watch", () => server.watching === 1);
    server.freeze("configmaps");
    server.put("configmaps", configMap("a", "new"));
    await until("the change", async () => (await value("a")) === "new");
    server.oldest = 1_000;
    server.cut();
    await until("another list", () => server.asked("GET /api/v1/configmaps?limit").length >= 3);
    const seen = new Set<string>();
    for (let i = 0; i < 20; i++) {
      seen.add(await value("a"));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual([...seen], ["new"]);
    const again = server.asked("GET /api/v1/configmaps?limit").filter((request) => request.includes("NotOlderThan"));
    assert.match(again[0] ?? "", /resourceVersion=102&resourceVersionMatch=NotOlderThan$/);
  });
});

const RESOURCE = { ...CONFIG_MAP, plural: "configmaps", namespaced: true };
