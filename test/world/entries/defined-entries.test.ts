import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import {
  ClusterEntries,
  EntryKeeper,
  type EntryParts,
  MAX_DEFINITIONS,
  MAX_PROJECTED_OBJECTS,
  WrittenEntries,
} from "../../../src/world/entries/defined-entries.js";
import { MAX_ENTRIES } from "../../../src/world/entries/entry-calls.js";
import { externalWith, NO_ENTRIES, NO_EXTERNAL } from "../../../src/world/external.js";
import { EgressRules } from "../../../src/world/http/egress-rules.js";
import { GuardedClient } from "../../../src/world/http/guarded-client.js";
import { ClusterObjects } from "../../../src/world/objects/cluster-objects.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { evaluated } from "../../kinds/kyverno/external/support.js";
import { FakeApiServer, json, status } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";

const entry = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: "kyverno.io/v2",
  kind: "GlobalContextEntry",
  metadata: { name },
  spec,
});
const pods = { kubernetesResource: { version: "v1", resource: "pods", namespace: "a" } };

async function setUp(context: TestContext, objects: readonly JsonObject[], blocklist: readonly string[] = []) {
  const server = await FakeApiServer.start(context);
  const { cluster, now, skip } = connect(context, server);
  const client = new GuardedClient(new EgressRules({ blocklist, allowlist: [] }));
  context.after(() => client.close());
  const keeper = new EntryKeeper({ cluster, client, now });
  return { server, skip, cluster, keeper, now, entries: new WrittenEntries(objects, keeper, NO_ENTRIES) };
}

/** An HTTP server on loopback with answers one after the other; the last one for all that follow. */
async function serve(context: TestContext, answers: readonly (readonly [number, string])[]) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    const [code, text] = answers[Math.min(heard.length, answers.length - 1)] ?? [500, ""];
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      heard.push(`${request.method} ${request.headers["x-a"] ?? ""} ${body.trim()}`.trim());
      response.writeHead(code).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard };
}

test("objects of a resource are a list that a watch keeps fresh, projections are made of it", async (context) => {
  const projections = [
    { name: "names", jmesPath: "[].metadata.name" },
    { name: "count", jmesPath: "length(@)" },
  ];
  const { server, entries } = await setUp(context, [entry("pods", { ...pods, projections })]);
  server.put("pods", { kind: "Pod", metadata: { name: "p", namespace: "a" } });
  server.put("pods", { kind: "Pod", metadata: { name: "q", namespace: "b" } });
  const external = { entries };
  assert.equal(await evaluated('globalContext.Get("pods").all(p, p.metadata.name == "p")', { external }), true);
  assert.equal(await evaluated('globalContext.Get("pods", "names") == ["p"]', { external }), true);
  assert.equal(await evaluated('globalContext.Get("pods", "count") + 1.0 == 2.0', { external }), true);
  server.put("pods", { kind: "Pod", metadata: { name: "r", namespace: "a" } });
  const isThere = () => evaluated('globalContext.Get("pods", "names") == ["p", "r"]', { external });
  await until("the pod", async () => (await isThere()) === true);
  assert.equal(await evaluated('globalContext.Get("pods", "count") == 2.0', { external }), true);
  assert.equal(
    await evaluated('globalContext.Get("pods", "other") == null', { external }),
    'error: failed to get global reference: projection "other" not found',
  );
  assert.equal(
    server.asked("GET /api/v1/namespaces/a/pods?").filter((request) => !request.includes("watch")).length,
    1,
  );
});

test("an answer of the API server is asked for again when it is old", async (context) => {
  const call = { urlPath: "/version?x=y", refreshInterval: "30s" };
  const { server, skip, entries } = await setUp(context, [entry("version", { apiCall: call })]);
  let minor = 0;
  server.special.set("/version", (_request, response) => json(response, 200, { minor: ++minor }));
  const external = { entries };
  assert.equal(await evaluated('globalContext.Get("version").minor + 0.0 == 1.0', { external }), true);
  skip(29_000);
  assert.equal(await evaluated('globalContext.Get("version").minor == 1.0', { external }), true);
  skip(2_000);
  assert.equal(await evaluated('globalContext.Get("version").minor == 2.0', { external }), true);
  assert.deepEqual(server.requests, new Array(2).fill("GET /version?x=y"));
});

test("a call that may not be made is said without the account that may not", async (context) => {
  const { server, entries } = await setUp(context, [entry("e", { apiCall: { urlPath: "/x", retryLimit: 1 } })]);
  const message = 'forbidden: User "system:serviceaccount:gate:server" cannot get path "/x"';
  server.special.set("/x", (_request, response) => status(response, 403, "Forbidden", message));
  const failure = await entries.get("e", "");
  assert.ok(failure instanceof LookupFailure);
  assert.equal(
    failure.message,
    'failed to GET resource with raw url: /x: permission denied: forbidden: the policy server cannot get path "/x"',
  );
});

test("an API server's path is that of the entry, or none", async (context) => {
  const bad = [
    "/../x",
    "/a/%2e%2E/x",
    "/a/./x",
    "/a%2f..%2fx",
    "/a/..%5cx",
    "/a\\\\..\\\\x",
    "api/v1",
    "2/api",
    "/%ff",
  ];
  const call = (urlPath: string) => ({ apiCall: { urlPath, retryLimit: 1 } });
  const objects = [...bad.map((path) => entry(path, call(path))), entry("good", call("/x.y/..z?a=1&a=2&b=/../?c"))];
  const { server, entries } = await setUp(context, objects);
  for (const path of bad) {
    const failure = await entries.get(path, "");
    assert.ok(failure instanceof LookupFailure, path);
    assert.ok(failure.message.startsWith(`failed to GET resource with raw url: ${path}: it `), failure.message);
  }
  assert.deepEqual(server.requests, []);
  server.special.set("/x.y/..z", (_request, response) => json(response, 200, { ok: true }));
  assert.deepEqual(await entries.get("good", ""), { ok: true });
  assert.deepEqual(server.requests, ["GET /x.y/..z?a=1&a=2&b=/../?c"]);
});

test("an answer that is too large is none, however it is asked for", async (context) => {
  const [long, odd] = [JSON.stringify("x".repeat(2_000_000)), `[${"1,".repeat(100_000)}1]`];
  const service = (text: string) => serve(context, [[200, text]]).then(({ url }) => ({ service: { url } }));
  const paths = ["GET", "POST"].flatMap((method) => ["/long", "/odd"].map((urlPath) => ({ method, urlPath })));
  const calls = [...paths, await service(long), await service(odd)];
  const objects = calls.map((apiCall, i) => entry(`e${i}`, { apiCall: { ...apiCall, retryLimit: 1 } }));
  const { server, entries } = await setUp(context, objects);
  server.special.set("/long", (_request, response) => response.end(long));
  server.special.set("/odd", (_request, response) => response.end(odd));
  for (const i of calls.keys()) {
    const failure = await entries.get(`e${i}`, "");
    assert.ok(failure instanceof LookupFailure, `e${i}`);
    const reason = i % 2 === 1 ? /more than 100000 values$/ : /(more than 2000000 bytes|length of 2000000)$/;
    assert.match(failure.message, reason);
  }
});

test("certificates that are none are not taken for those of the system", async (context) => {
  const { url, heard } = await serve(context, [[200, "{}"]]);
  const { entries } = await setUp(context, [
    entry("e", { apiCall: { service: { url, caBundle: "x" }, retryLimit: 1 } }),
  ]);
  assert.deepEqual(await entries.get("e", ""), new LookupFailure("failed to parse PEM CA bundle for APICall"));
  assert.deepEqual(heard, []);
});

test("so many answers are kept", async (context) => {
  const { url, heard } = await serve(context, [[200, "{}"]]);
  const objects = Array.from({ length: MAX_ENTRIES + 1 }, (_, i) => entry(`e${i}`, { apiCall: { service: { url } } }));
  const { entries } = await setUp(context, objects);
  for (const i of objects.keys()) await entries.get(`e${i}`, "");
  await entries.get(`e${MAX_ENTRIES}`, "");
  assert.equal(heard.length, MAX_ENTRIES + 1);
  await entries.get("e0", "");
  assert.equal(heard.length, MAX_ENTRIES + 2);
});

test("a projection goes through so many objects, and through new ones only when it is made again", async () => {
  let gone = 0;
  const object = (i: number) => ({
    get metadata() {
      gone++;
      return { name: `n${i}` };
    },
  });
  let objects = Array.from({ length: 10 }, (_, i) => object(i));
  const cluster = {
    discovery: { findResource: async () => ({ namespaced: false }) },
    stores: { of: () => ({ problem: () => undefined, items: { isRead: true, all: () => objects } }) },
  };
  const client = { request: () => assert.fail() };
  const keeper = new EntryKeeper({ cluster, client, now: () => 1 } as unknown as EntryParts);
  const projections = [{ name: "count", jmesPath: "length(@)" }];
  const external = new WrittenEntries([entry("e", { ...pods, projections })], keeper, NO_ENTRIES);
  assert.equal(Number(await external.get("e", "count")), 10);
  const [before] = [gone];
  assert.ok(before >= 10);
  objects = [...objects, object(10)];
  assert.equal(Number(await external.get("e", "count")), 11);
  assert.equal(gone - before, before / 10);
  objects = new Array(MAX_PROJECTED_OBJECTS + 1).fill(objects[0]);
  const refused = new LookupFailure(
    `the entry has more than ${MAX_PROJECTED_OBJECTS} objects, too many for a projection`,
  );
  assert.deepEqual(await external.get("e", "count"), refused);
  assert.equal(await external.get("e", ""), objects);
});

test("another server is asked with data and headers, a few times, and its answer is kept", async (context) => {
  const { url, heard } = await serve(context, [
    [503, "not yet"],
    [200, '{"n": 1}'],
  ]);
  const apiCall = {
    method: "POST",
    data: [{ key: "k", value: [1] }],
    service: { url, headers: [{ key: "X-A", value: "b" }] },
  };
  const projections = [{ name: "n", jmesPath: "n" }];
  const { entries } = await setUp(context, [entry("e", { apiCall, projections })]);
  const external = { entries };
  assert.equal(await evaluated('globalContext.Get("e").n + 1.0 == 2.0', { external }), true);
  assert.equal(await evaluated('globalContext.Get("e", "n") + 1.0 == 2.0', { external }), true);
  assert.deepEqual(heard, new Array(2).fill('POST b {"k":[1]}'));
});

test("what cannot be had is an error", async (context) => {
  const { url, heard } = await serve(context, [[404, "secret"]]);
  const service = { url };
  const { entries } = await setUp(
    context,
    [
      entry("missing", { apiCall: { service, retryLimit: 2 } }),
      entry("odd", {}),
      entry("query", { apiCall: { service }, projections: [{ name: "p", jmesPath: "a[" }] }),
      entry("resource", { kubernetesResource: { group: "acme.example", version: "v1", resource: "wolves" } }),
    ],
    ["10.0.0.0/8"],
  );
  const text = async (name: string): Promise<string> => {
    const found = await entries.get(name, "");
    assert.ok(found instanceof LookupFailure, JSON.stringify(found));
    return found.message;
  };
  assert.equal(await text("missing"), "HTTP 404");
  assert.equal(heard.length, 2);
  assert.equal(await text("odd"), "the entry has neither kubernetesResource nor apiCall");
  assert.match(await text("query"), /^failed to parse jmespath query: /);
  assert.equal(await text("resource"), "failed to sync cache for acme.example/v1/wolves: there is no such resource");
  // Nobody knows whether there is such an entry: it is not taken for absent.
  assert.ok((await entries.get("unknown", "")) instanceof LookupFailure);
});

test("calls are held by the rules of egress", async (context) => {
  const call = (url: string) => ({ apiCall: { service: { url }, retryLimit: 1 } });
  const objects = [entry("address", call("http://127.0.0.1:1/")), entry("host", call("http://bad.example/"))];
  const { entries } = await setUp(context, objects, ["127.0.0.0/8", "bad.example"]);
  assert.deepEqual(
    ((await entries.get("address", "")) as LookupFailure).message,
    'failed to execute HTTP request for APICall globalcontext: Get "http://127.0.0.1:1/": connection to 127.0.0.1:1 blocked: IP 127.0.0.1 falls in blocked range 127.0.0.0/8',
  );
  assert.deepEqual(
    ((await entries.get("host", "")) as LookupFailure).message,
    'failed to validate URL for APICall globalcontext: URL "http://bad.example/" is blocked: hostname "bad.example" is on the blocklist',
  );
});

test("the entries of a cluster are found by name, and one that is not there is null", async (context) => {
  const { server, cluster, keeper, now } = await setUp(context, []);
  const path = "/apis/kyverno.io/v2beta1/globalcontextentries";
  server.special.set(`${path}/pods`, (_request, response) => json(response, 200, entry("pods", pods)));
  server.put("pods", { kind: "Pod", metadata: { name: "p", namespace: "a" } });
  server.special.set("/apis/kyverno.io/v2beta1", (_request, response) =>
    json(response, 200, { kind: "APIResourceList", resources: [{ name: "globalcontextentries", namespaced: false }] }),
  );
  const external = { entries: new ClusterEntries(new ClusterObjects(cluster), cluster, keeper, now) };
  assert.equal(await evaluated('globalContext.Get("pods").size() == 1', { external }), true);
  assert.equal(await evaluated('globalContext.Get("none") == null', { external }), true);
});

test("where a cluster does not serve entries nobody knows which there are", async (context) => {
  const { cluster, keeper, now } = await setUp(context, []);
  const entries = new ClusterEntries(new ClusterObjects(cluster), cluster, keeper, now);
  assert.deepEqual(
    await entries.get("none", ""),
    new LookupFailure("the cluster has no globalcontextentries in kyverno.io/v2beta1"),
  );
});

test("so many entries of a cluster are remembered, by names that are so long together", async () => {
  const asked: string[] = [];
  const objects = {
    get: async (_place: unknown, name: string) => {
      asked.push(name);
      return entry(name, {});
    },
  };
  const keeper = new EntryKeeper({ client: { request: () => assert.fail() }, now: () => 1 });
  const cluster = { discovery: { findResource: async () => undefined } };
  const entries = new ClusterEntries(objects, cluster, keeper, () => 1);
  for (let i = 0; i <= MAX_DEFINITIONS; i++) await entries.get(`e${i}`, "");
  await entries.get(`e${MAX_DEFINITIONS}`, "");
  assert.equal(asked.length, MAX_DEFINITIONS + 1);
  await entries.get("e0", "");
  assert.equal(asked.length, MAX_DEFINITIONS + 2);
  const long = (i: number) => `${i}${"x".repeat(1_000_000)}`;
  for (let i = 0; i < 4; i++) await entries.get(long(i), "");
  await entries.get(long(0), "");
  assert.equal(asked.length, MAX_DEFINITIONS + 7);
});

test("entries beside a policy are found where somebody keeps their data", async (context) => {
  const { server, keeper } = await setUp(context, []);
  server.put("pods", { kind: "Pod", metadata: { name: "p", namespace: "a" } });
  const documents = [entry("pods", pods)];
  const external = externalWith(documents, { ...NO_EXTERNAL, keeper });
  assert.equal(await evaluated('globalContext.Get("pods").size() == 1', { external }), true);
  assert.match(
    String(await evaluated('globalContext.Get("pods") == null', { external: externalWith(documents) })),
    /^error: /,
  );
});
