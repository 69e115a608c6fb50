import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { PAGE_ITEMS } from "../../../src/kubernetes/client/limits.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import {
  ClusterObjects,
  type ClusterParts,
  LIST_MS,
  MAX_LIST_BYTES,
  MAX_LIST_OBJECTS,
  MAX_LIST_PAGES,
  OBJECT_BOUNDS,
} from "../../../src/world/objects/cluster-objects.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { evaluated } from "../../kinds/kyverno/external/support.js";
import { FakeApiServer, json, status } from "../../kubernetes/client/fake-api-server.js";
import { connect } from "../../kubernetes/client/support.js";

async function setUp(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const { cluster } = connect(context, server);
  return { server, objects: new ClusterObjects(cluster) };
}

const configMap = (namespace: string, name: string, labels = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace, labels },
});
const place = { apiVersion: "v1", resource: "configmaps", namespace: "a" };

test("an object is read anew for every request, and once in one", async (context) => {
  const { server, objects } = await setUp(context);
  server.put("configmaps", configMap("a", "one"));
  const external = { objects };
  const get = 'resource.Get("v1", "configmaps", "a", "one")';
  const source = `${get}.metadata.name == "one" && ${get}.kind == "ConfigMap"`;
  assert.equal(await evaluated(source, { external }), true);
  assert.equal(await evaluated(source, { external }), true);
  assert.deepEqual(server.requests, new Array(2).fill("GET /api/v1/namespaces/a/configmaps/one"));
});

test("an object that is not there does not exist, nor does one of a resource that nobody serves", async (context) => {
  const { server, objects } = await setUp(context);
  assert.equal(await objects.get(place, "none"), undefined);
  assert.equal(await objects.get({ apiVersion: "x/v1", resource: "ys", namespace: "" }, "none"), undefined);
  assert.deepEqual(server.requests, ["GET /api/v1/namespaces/a/configmaps/none", "GET /apis/x/v1/ys/none"]);
});

test("subresources have paths of their own", async (context) => {
  const { server, objects } = await setUp(context);
  server.special.set("/api/v1/namespaces/a/pods/p/status", (_request, response) => json(response, 200, { phase: "x" }));
  assert.deepEqual(await objects.get({ ...place, resource: "pods/status" }, "p"), { phase: "x" });
});

test("a list has all objects, page by page, or those with labels", async (context) => {
  const { server, objects } = await setUp(context);
  for (let i = 0; i <= PAGE_ITEMS; i++)
    server.put("configmaps", configMap(i === 0 ? "b" : "a", `n${i}`, { app: `x${i}` }));
  const namesOf = async (namespace: string, labels: Record<string, string>) => {
    const list = (await objects.list({ ...place, namespace }, labels)) as { items: { metadata: { name: string } }[] };
    return list.items.map(({ metadata }) => metadata.name);
  };
  assert.equal((await namesOf("", {})).length, PAGE_ITEMS + 1);
  assert.equal((await namesOf("a", {})).length, PAGE_ITEMS);
  assert.deepEqual(await namesOf("a", { app: "x7" }), ["n7"]);
  assert.deepEqual(server.requests.slice(0, 2), [
    `GET /api/v1/configmaps?limit=${PAGE_ITEMS}`,
    `GET /api/v1/configmaps?limit=${PAGE_ITEMS}&continue=${PAGE_ITEMS}`,
  ]);
});

test("a list that is too long is none", async (context) => {
  const { server, objects } = await setUp(context);
  const items = new Array(5_000).fill({ metadata: { name: "x" } });
  server.special.set("/api/v1/configmaps", (_request, response) =>
    json(response, 200, { kind: "ConfigMapList", metadata: { continue: "more" }, items }),
  );
  const list = await objects.list({ ...place, namespace: "" }, {});
  assert.ok(list instanceof LookupFailure);
  assert.match(list.message, new RegExp(`more than ${MAX_LIST_OBJECTS} objects`));
  assert.equal(server.requests.length, MAX_LIST_OBJECTS / 5_000 + 1);
});

test("a list without an end has no more pages than one may have", async (context) => {
  const { server, objects } = await setUp(context);
  server.special.set("/api/v1/configmaps", (_request, response) =>
    json(response, 200, { kind: "ConfigMapList", metadata: { continue: "more" }, items: [] }),
  );
  const list = await objects.list({ ...place, namespace: "" }, {});
  assert.deepEqual(list, new LookupFailure(`the list has more than ${MAX_LIST_PAGES} pages`));
  assert.equal(server.requests.length, MAX_LIST_PAGES);
});

test("all pages of a list have one time limit", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let pages = 0;
  const http = {
    async get(_path: string, _query: unknown, signal: AbortSignal) {
      context.mock.timers.tick(LIST_MS / 4 + 1);
      if (signal.aborted) throw new Error("aborted");
      pages++;
      return { value: { kind: "XList", metadata: { continue: "more" }, items: [] }, bytes: 1 };
    },
  };
  const parts = { http, signal: new AbortController().signal, discovery: {} };
  const list = await new ClusterObjects(parts as unknown as ClusterParts).list(place, {});
  assert.ok(list instanceof LookupFailure);
  assert.equal(list.message, "the API server did not give the whole list in time");
  assert.equal(pages, 3);
});

test("what is too large is no object and no list", async (context) => {
  const { server, objects } = await setUp(context);
  const long = { kind: "ConfigMapList", items: [], data: { a: "x".repeat(MAX_LIST_BYTES) } };
  const odd = { kind: "ConfigMap", data: new Array(OBJECT_BOUNDS.maxValues + 1).fill(1) };
  const answer = (value: unknown) => (_request: unknown, response: ServerResponse) => json(response, 200, value);
  server.special.set("/api/v1/configmaps", answer(long));
  server.special.set("/api/v1/namespaces/a/configmaps/long", answer(long));
  server.special.set("/api/v1/namespaces/a/configmaps/odd", answer(odd));
  server.special.set("/api/v1/namespaces/a/configmaps", answer(odd));
  const reasons = [
    await objects.list({ ...place, namespace: "" }, {}),
    await objects.get(place, "long"),
    await objects.get(place, "odd"),
    await objects.create(place, {}),
  ].map((each) => (each instanceof LookupFailure ? each.message : JSON.stringify(each)));
  assert.match(reasons[0] ?? "", new RegExp(`more than .* or ${MAX_LIST_BYTES} bytes: narrow it`));
  assert.deepEqual(reasons.slice(1), [
    `the answer has more than ${OBJECT_BOUNDS.maxBytes} bytes`,
    `the answer has more than ${OBJECT_BOUNDS.maxValues} values`,
    `the answer has more than ${OBJECT_BOUNDS.maxValues} values`,
  ]);
});

test("another answer than a list is not taken for an empty one", async (context) => {
  const { server, objects } = await setUp(context);
  const failure = new LookupFailure("the API server's answer is not a list");
  for (const [answer, expected] of [
    [{ kind: "Status", status: "Failure" }, failure],
    [{ kind: "ConfigMapList" }, failure],
    [{ kind: "ConfigMapList", items: {} }, failure],
    [{ kind: "ConfigMapList", items: [1] }, failure],
    [{ kind: "Thing", items: [] }, failure],
    [[], failure],
    [
      { kind: "ConfigMapList", items: null },
      { kind: "ConfigMapList", items: [] },
    ],
  ]) {
    server.special.set("/api/v1/configmaps", (_request, response) => json(response, 200, answer));
    assert.deepEqual(await objects.list({ ...place, namespace: "" }, {}), expected, JSON.stringify(answer));
  }
});

test("what is to be created is sent once, also when the server puts it off or refuses the account", async (context) => {
  const { server, objects } = await setUp(context);
  server.special.set("/api/v1/namespaces/a/configmaps", (_request, response) => {
    response.setHeader("retry-after", "0");
    status(response, 503, "ServiceUnavailable", "not yet");
  });
  const putOff = await objects.create(place, {});
  assert.ok(putOff instanceof LookupFailure);
  assert.match(putOff.message, /503/);
  assert.equal(server.requests.length, 1);
  server.special.clear();
  server.tokens.add("another");
  const refused = await objects.create(place, {});
  assert.ok(refused instanceof LookupFailure);
  assert.match(refused.message, /^permission denied: /);
  assert.equal(server.requests.length, 2);
});

test("what is created is the server's answer", async (context) => {
  const { server, objects } = await setUp(context);
  server.access.set("jane", { allowed: true });
  const external = { objects };
  const post =
    'resource.Post("authorization.k8s.io/v1", "subjectaccessreviews", {"kind": dyn("SubjectAccessReview"), "spec": dyn({"user": "jane"})})';
  assert.equal(await evaluated(`${post}.status.allowed && ${post}.status.allowed`, { external }), true);
  assert.deepEqual(server.reviews, [{ user: "jane" }]);
  assert.equal(await evaluated(`${post}.status.allowed`, { external }), true);
  assert.equal(server.reviews.length, 2);
});

test("what may not be done is said without the account that may not", async (context) => {
  const { server, objects } = await setUp(context);
  const message =
    'configmaps "one" is forbidden: User "system:serviceaccount:gate:server" cannot get resource "configmaps" in API group "" in the namespace "a"';
  server.special.set("/api/v1/namespaces/a/configmaps/one", (_request, response) =>
    status(response, 403, "Forbidden", message),
  );
  const found = await objects.get(place, "one");
  assert.ok(found instanceof LookupFailure);
  assert.equal(
    found.message,
    'permission denied: configmaps "one" is forbidden: the policy server cannot get resource "configmaps" in API group "" in the namespace "a"',
  );
  assert.match(found.detail ?? "", /system:serviceaccount/);
});

test("the resource of a kind is the cluster's", async (context) => {
  const { objects } = await setUp(context);
  assert.deepEqual(await objects.resourceOf("acme.example/v1", "Limit"), {
    group: "acme.example",
    version: "v1",
    resource: "limits",
  });
  const none = new LookupFailure('no matches for kind "Wolf" in version "acme.example/v1"');
  assert.deepEqual(await objects.resourceOf("acme.example/v1", "Wolf"), none);
});

test("no name leads anywhere else", async (context) => {
  const { server, objects } = await setUp(context);
  const bad: readonly JsonObject[] = [
    { ...place, namespace: ".." },
    { ...place, namespace: "a/b" },
    { ...place, resource: "" },
    { ...place, resource: "configmaps/../secrets" },
    { ...place, apiVersion: "../v1" },
    { ...place, apiVersion: "a/b/c" },
  ];
  for (const each of bad) {
    const at = each as unknown as typeof place;
    assert.ok((await objects.get(at, "x")) instanceof LookupFailure, JSON.stringify(each));
    assert.ok((await objects.list(at, {})) instanceof LookupFailure, JSON.stringify(each));
    assert.ok((await objects.create(at, {})) instanceof LookupFailure, JSON.stringify(each));
  }
  for (const name of ["", ".", "..", "a/b", "a%2fb"]) {
    assert.ok((await objects.get(place, name)) instanceof LookupFailure, name);
  }
  assert.deepEqual(await objects.get(place, ""), new LookupFailure("name is required"));
  assert.ok((await objects.create({ ...place, resource: "pods/eviction" }, {})) instanceof LookupFailure);
  assert.deepEqual(server.requests, []);
});
