import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { FakeApiServer, json, status } from "./fake-api-server.js";
import { connect, PATIENT, PODS, pod, until } from "./support.js";

const NAMESPACES = { apiVersion: "v1", kind: "Namespace" };

describe("what guests ask", () => {
  test("an object is given as the API server has it", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a", "n", {}, { managedFields: [{ manager: "m" }] }));
    const { reader } = connect(context, server);
    const object = (await reader.get(PODS, { name: "a", namespace: "n" }, PATIENT)) as { metadata: object };
    assert.deepEqual(object.metadata, {
      name: "a",
      namespace: "n",
      labels: {},
      managedFields: [{ manager: "m" }],
      resourceVersion: "101",
    });
  });

  test("failures have the words of the reference server", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    const get = (kind: typeof PODS, query: { name: string; namespace?: string }) => reader.get(kind, query, PATIENT);
    const foo = { apiVersion: "v1", kind: "Foo" };
    await assert.rejects(get(foo, { name: "a" }), { message: "Cannot find resource v1/Foo" });
    const unknown = { apiVersion: "unknown.example/v1", kind: "Foo" };
    await assert.rejects(get(unknown, { name: "a" }), { message: "Cannot find resource unknown.example/v1/Foo" });
    await assert.rejects(get({ apiVersion: "a/b/c", kind: "Foo" }, { name: "a" }), {
      message: "Cannot find resource a/b/c/Foo",
    });
    await assert.rejects(get(PODS, { name: "a" }), {
      message: "Resource v1/Pod is namespaced, but no namespace was provided",
    });
    await assert.rejects(get(PODS, { name: "a", namespace: "n" }), {
      message: "Cannot find v1/Pod named 'a' inside of namespace 'Some(\"n\")'",
    });
    await assert.rejects(get(NAMESPACES, { name: "a" }), {
      message: "Cannot find v1/Namespace named 'a' inside of namespace 'None'",
    });
    await assert.rejects(reader.list(NAMESPACES, { namespace: "n" }, PATIENT), {
      message: "resource v1/Namespace is cluster wide. Cannot search for it inside of a namespace",
    });
    server.special.set("/apis/acme.example/v1", (_, response) => status(response, 500, "InternalError", "no etcd"));
    await assert.rejects(get({ apiVersion: "acme.example/v1", kind: "Limit" }, { name: "a" }), {
      message: "error finding resource acme.example/v1 / Limit: no etcd",
    });
  });

  test("names cannot reach other paths", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    server.put("namespaces", { metadata: { name: "n" } });
    server.put("pods", pod("a", "n"));
    for (const name of ["", ".", "..", "a/log", "a%2Flog", "../../../secrets"]) {
      await assert.rejects(reader.get(PODS, { name, namespace: "n" }, PATIENT), /Cannot find v1\/Pod named/);
    }
    for (const namespace of [".", "..", "n/pods", "%2E%2E"]) {
      await assert.rejects(reader.get(PODS, { name: "a", namespace }, PATIENT), /Cannot find v1\/Pod named/);
      await assert.rejects(reader.list(PODS, { namespace }, PATIENT), /cannot be part of a path/);
    }
    await assert.rejects(reader.list(PODS, { namespace: "" }, PATIENT), /namespace to search in is empty/);
    await assert.rejects(reader.list({ apiVersion: "../v1", kind: "Pod" }, {}, PATIENT), /Cannot find resource/);
    assert.deepEqual(server.requests, ["GET /api/v1"]);
  });

  test("kinds are discovered once; those that were unknown are asked for again after a while", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a", "n"));
    const cluster = connect(context, server);
    const get = () => cluster.reader.get(PODS, { name: "a", namespace: "n" }, PATIENT);
    await Promise.all([get(), get()]);
    cluster.skip(3_600_000);
    await get();
    assert.equal(server.requests.filter((request) => request === "GET /api/v1").length, 1);

    const late = { apiVersion: "late.example/v1", kind: "Late" };
    const asked = () => server.asked("GET /apis/late.example/v1").length;
    for (let i = 0; i < 3; i++)
      await assert.rejects(cluster.reader.get(late, { name: "x" }, PATIENT), /Cannot find resource/);
    assert.equal(asked(), 1);
    server.special.set("/apis/late.example/v1", (_, response) =>
      json(response, 200, { resources: [{ name: "lates", kind: "Late", namespaced: false }] }),
    );
    server.special.set("/apis/late.example/v1/lates/x", (_, response) => json(response, 200, { spec: {} }));
    cluster.skip(10_000);
    assert.deepEqual(await cluster.reader.get(late, { name: "x" }, PATIENT), { spec: {} });
  });

  test("access is what a SubjectAccessReview says", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    server.access.set("jane", { allowed: false, denied: true, reason: "no", evaluationError: "odd", other: 1 });
    server.access.set("bob", { allowed: true });
    const resourceAttributes = { verb: "get", resource: "pods" };
    assert.deepEqual(await reader.canI({ user: "jane", groups: ["g"], resourceAttributes }, PATIENT), {
      allowed: false,
      denied: true,
      reason: "no",
      evaluationError: "odd",
    });
    assert.deepEqual(server.reviews, [{ user: "jane", groups: ["g"], resourceAttributes }]);
    assert.deepEqual(await reader.canI({ user: "bob", resourceAttributes }, PATIENT), { allowed: true });
    await assert.rejects(reader.canI({ user: "nobody", resourceAttributes }, PATIENT), /has no status/);
  });

  test("Rego policies get everything of a kind", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a", "n"));
    const { reader } = connect(context, server);
    const { items, ...snapshot } = await reader.snapshot(PODS, PATIENT);
    assert.deepEqual(snapshot, { kind: PODS, plural: "pods", namespaced: true });
    assert.equal(items.length, 1);
  });

  test("a request that nobody waits for is ended, and one that is put off is sent again", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    let closed = false;
    server.special.set("/api/v1/namespaces/slow", (_, response) => {
      response.on("close", () => {
        closed = true;
      });
    });
    const controller = new AbortController();
    const waiting = reader.get(NAMESPACES, { name: "slow" }, controller.signal);
    await until("the request", () => server.asked("GET /api/v1/namespaces/slow").length === 1);
    controller.abort();
    await assert.rejects(waiting, /no longer waits/);
    await until("its end", () => closed);

    let attempts = 0;
    server.special.set("/api/v1/namespaces/busy", (_, response) => {
      if (attempts++ > 0) return void json(response, 200, { metadata: { name: "busy" } });
      response.setHeader("retry-after", "0");
      status(response, 429, "TooManyRequests", "later");
    });
    assert.deepEqual(await reader.get(NAMESPACES, { name: "busy" }, PATIENT), { metadata: { name: "busy" } });
  });

  test("one that is put off for longer than its caller waits has been answered: the refusal is the reason", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    const caller = new AbortController();
    server.special.set("/api/v1/namespaces/full", (_, response) => {
      response.setHeader("retry-after", "32");
      // Long enough for the answer to be read, on any machine: both ends are in this process.
      response.on("finish", async () => {
        for (let turns = 0; turns < 200; turns++) await nextTurn();
        caller.abort();
      });
      status(response, 429, "TooManyRequests", "later");
    });
    await assert.rejects(reader.get(NAMESPACES, { name: "full" }, caller.signal), /later/);
  });

  test("numbers beyond what JavaScript holds keep their value", async (context) => {
    const server = await FakeApiServer.start(context);
    server.special.set("/api/v1/namespaces/n", (_, response) => {
      response.end('{"spec":{"big":9007199254740993}}');
    });
    const { reader } = connect(context, server);
    assert.deepEqual(await reader.get(NAMESPACES, { name: "n" }, PATIENT), { spec: { big: 9007199254740993n } });
  });
});
