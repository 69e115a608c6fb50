import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { FakeApiServer, status } from "./fake-api-server.js";
import { connect, names, PATIENT, PODS, pod, until } from "./support.js";

const LIST = "GET /api/v1/pods?limit";
const WATCH = "GET /api/v1/pods?watch";

describe("a list that a watch keeps fresh", () => {
  test("is asked for once, shared, and follows additions, changes and removals", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("b"));
    server.put("pods", pod("a"));
    server.put("pods", pod("c", "aaa"));
    const { reader } = connect(context, server);
    const [first, second] = await Promise.all([reader.list(PODS, {}, PATIENT), reader.list(PODS, {}, PATIENT)]);
    assert.deepEqual(names(first), ["c", "a", "b"], "by namespace and name");
    assert.equal(first, second);
    await until("the watch", () => server.watching === 1);
    server.put("pods", pod("d"));
    await until("the addition", async () => (await reader.list(PODS, {}, PATIENT)).length === 4);
    server.put("pods", pod("d", "default", { changed: "yes" }));
    await until("the change", async () => JSON.stringify(await reader.list(PODS, {}, PATIENT)).includes("changed"));
    server.remove("pods", "d", "default");
    await until("the removal", async () => (await reader.list(PODS, {}, PATIENT)).length === 3);
    assert.equal(server.asked(LIST).length, 1);
    assert.equal(server.asked(WATCH).length, 1);
  });

  test("has objects with apiVersion and kind, without managed fields and last-applied annotation", async (context) => {
    const server = await FakeApiServer.start(context);
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" };
    server.put("pods", pod("a", "default", {}, { annotations, managedFields: [{ manager: "x" }] }));
    const { reader } = connect(context, server);
    const [item] = (await reader.list(PODS, {}, PATIENT)) as [Record<string, unknown>];
    const { resourceVersion: _, ...metadata } = item.metadata as Record<string, unknown>;
    assert.deepEqual(
      { ...item, metadata },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "a", namespace: "default", labels: {}, annotations: { kept: "yes" }, managedFields: [] },
      },
    );
  });

  test("is a list of its own for each namespace and selector", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a", "one", { app: "x" }));
    server.put("pods", pod("b", "one", { app: "y" }));
    server.put("pods", pod("c", "two", { app: "x" }));
    const cluster = connect(context, server);
    const list = async (query: object) => names(await cluster.reader.list(PODS, query, PATIENT));
    assert.deepEqual(await list({ namespace: "one" }), ["a", "b"]);
    assert.deepEqual(await list({ labelSelector: "app=x" }), ["a", "c"]);
    assert.deepEqual(await list({ namespace: "one", labelSelector: "app=x" }), ["a"]);
    await list({ fieldSelector: "spec.nodeName=n" });
    assert.equal(server.asked("GET /api/v1/pods?fieldSelector=spec.nodeName=n&limit").length, 1);
    assert.equal(cluster.stores, 4);
  });

  test("is read in pages, which start again once when the first have expired", async (context) => {
    const server = await FakeApiServer.start(context);
    for (let i = 0; i < 600; i++) server.put("pods", pod(`p${i}`));
    const { reader } = connect(context, server);
    assert.equal((await reader.list(PODS, {}, PATIENT)).length, 600);
    assert.deepEqual(server.asked(LIST), [`${LIST}=250`, `${LIST}=250&continue=250`, `${LIST}=250&continue=500`]);

    let expired = 0;
    server.special.set("/api/v1/namespaces/default/pods", (request, response) => {
      const url = new URL(request.url ?? "", "https://server");
      if (url.searchParams.get("continue") !== null && expired++ === 0) {
        return status(response, 410, "Expired", "The provided continue parameter is too old");
      }
      const next = url.searchParams.get("continue") === null ? { continue: "250" } : {};
      const items = [pod(next.continue === undefined ? "last" : "first")];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ metadata: { resourceVersion: "1", ...next }, items }));
    });
    const items = await reader.list(PODS, { namespace: "default" }, PATIENT);
    assert.deepEqual(names(items), ["first", "last"]);
  });
});

describe("a list of large objects", () => {
  /** A list whose pages have no more bytes than this, and the sizes of the pages that were asked for. */
  async function listed(context: TestContext, server: FakeApiServer, pageBytes: number, pageItems = 4) {
    const { cluster } = connect(context, server);
    const found: string[] = [];
    const target = () => ({ put: (object: unknown) => void found.push(...names([object])), delete: () => {} });
    const list = cluster.follow({ path: "/api/v1/pods", query: {}, target, pageItems, pageBytes });
    context.after(() => list.stop());
    await list.ready;
    const pages = server.asked(LIST).map((request) => new URL(request.slice(4), "https://server").searchParams);
    return { found, pages: pages.map((page) => `${page.get("continue") ?? 0}+${page.get("limit")}`) };
  }
  const padded = (name: string, bytes: number) =>
    pod(name, "default", {}, { annotations: { padding: "x".repeat(bytes) } });

  test("is read in pages of as many as there is room for, without beginning again, and of more where they are small", async (context) => {
    const server = await FakeApiServer.start(context);
    const sizes = [0, 0, 0, 0, 3000, 3000, 3000, 3000, 0, 0, 0, 0, 0, 0, 0];
    for (const [index, size] of sizes.entries()) server.put("pods", padded(`p${index}`, size));
    const { found, pages } = await listed(context, server, 8000);
    assert.deepEqual(
      found,
      sizes.map((_, index) => `p${index}`),
    );
    assert.deepEqual(pages, ["0+4", "4+4", "4+2", "6+2", "8+2", "10+4", "14+4"]);
  });

  test("has an object alone in a page that is larger than a page", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const name of ["a", "b"]) server.put("pods", padded(name, 9000));
    assert.deepEqual(await listed(context, server, 8000), { found: ["a", "b"], pages: ["0+4", "0+2", "0+1", "1+1"] });
  });
});

describe("a watch", () => {
  test("goes on from where it was when its connection breaks or ends", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    await reader.list(PODS, {}, PATIENT);
    for (const orderly of [false, true]) {
      await until("the watch", () => server.watching === 1);
      server.putUnseen("pods", pod(`unseen-${orderly}`));
      server.cut(orderly);
      await until("what was missed", async () =>
        names(await reader.list(PODS, {}, PATIENT)).includes(`unseen-${orderly}`),
      );
    }
    assert.equal(server.asked(LIST).length, 1);
  });

  test("lists again when the server has forgotten where it was, said by status or by event", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("old"));
    const { reader } = connect(context, server);
    await reader.list(PODS, {}, PATIENT);
    await until("the watch", () => server.watching === 1);
    server.putUnseen("pods", pod("new"));
    server.oldest = 102;
    server.cut();
    await until("the second list", async () => names(await reader.list(PODS, {}, PATIENT)).includes("new"));
    assert.equal(server.asked(LIST).length, 2);

    await until("the watch", () => server.watching === 1);
    server.putUnseen("pods", pod("newer"));
    server.send("pods", {
      type: "ERROR",
      object: { kind: "Status", code: 410, reason: "Expired", message: "too old" },
    });
    await until("the third list", async () => names(await reader.list(PODS, {}, PATIENT)).includes("newer"));
  });

  test("goes on from the last bookmark", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader } = connect(context, server);
    await reader.list(PODS, {}, PATIENT);
    await until("the watch", () => server.watching === 1);
    server.send("pods", { type: "BOOKMARK", object: { metadata: { resourceVersion: "4711" } } });
    server.cut(true);
    await until("the next watch", () => server.requests.some((request) => request.includes("resourceVersion=4711")));
  });

  test("waits longer and longer while the server fails, keeps serving, and says so", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a"));
    const cluster = connect(context, server);
    await cluster.reader.list(PODS, {}, PATIENT);
    await until("the watch", () => server.watching === 1);
    server.special.set("/api/v1/pods", (_, response) => status(response, 500, "InternalError", "etcd is away"));
    server.cut();
    await until("attempts", () => cluster.notes.length >= 3);
    assert.match(cluster.notes.at(-1) ?? "", /^watching \/api\/v1\/pods is interrupted: etcd is away$/);
    assert.deepEqual(names(await cluster.reader.list(PODS, {}, PATIENT)), ["a"]);
    cluster.skip(300_001);
    await assert.rejects(cluster.reader.list(PODS, {}, PATIENT), /no contact to the API server for too long/);
    server.special.clear();
    await until("recovery", async () => {
      const listed = await cluster.reader.list(PODS, {}, PATIENT).catch(() => []);
      return listed.length === 1;
    });
  });

  test("lists again when an event cannot be read, as it would come again", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reader, notes } = connect(context, server);
    await reader.list(PODS, {}, PATIENT);
    for (let i = 0; i < 3; i++) {
      // Not the one before, which the server may not have seen end yet.
      await until("the watch", () => server.watching === 1 && server.asked(WATCH).length === i + 1);
      server.send("pods", { type: "???", object: { message: `poison ${i}` } });
      await until("its end", () => notes.some((note) => note.includes(`poison ${i}`)));
    }
    await until("the second list", () => server.asked(LIST).length === 2);
  });

  test("that stays silent is given up and begun anew", async (context) => {
    const server = await FakeApiServer.start(context);
    const timing = { silence: 50, firstBackoff: 5, lastBackoff: 10, staleness: 300_000 };
    const { reader } = connect(context, server, { timing });
    await reader.list(PODS, {}, PATIENT);
    await until("watches after silence", () => server.asked(WATCH).length >= 3);
  });

  test("that is refused ends: the next list says why, or is there again", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a"));
    const cluster = connect(context, server);
    await cluster.reader.list(PODS, {}, PATIENT);
    await until("the watch", () => server.watching === 1);
    const words = 'pods is forbidden: User "gateway" cannot list resource "pods" in API group "" at the cluster scope';
    server.special.set("/api/v1/pods", (_, response) => status(response, 403, "Forbidden", words));
    server.cut();
    await until("the refusal", () => cluster.notes.some((note) => note.includes("is refused")));
    assert.deepEqual(names(await cluster.reader.list(PODS, {}, PATIENT)), ["a"], "for a moment");
    cluster.skip(5_001);
    await assert.rejects(cluster.reader.list(PODS, {}, PATIENT), {
      message: words,
      code: "KUBERNETES_API",
      status: 403,
    });
    server.special.clear();
    cluster.skip(1_001);
    assert.deepEqual(names(await cluster.reader.list(PODS, {}, PATIENT)), ["a"]);
  });
});

describe("bounds", () => {
  test("a forbidden list fails with the server's words, at most once a second", async (context) => {
    const server = await FakeApiServer.start(context);
    const cluster = connect(context, server);
    server.special.set("/api/v1/pods", (_, response) => status(response, 403, "Forbidden", "pods is forbidden"));
    for (let i = 0; i < 3; i++)
      await assert.rejects(cluster.reader.list(PODS, {}, PATIENT), /^ApiError: pods is forbidden$/);
    assert.equal(server.asked(LIST).length, 1);
    cluster.skip(1_001);
    await assert.rejects(cluster.reader.list(PODS, {}, PATIENT));
    assert.equal(server.asked(LIST).length, 2);
  });

  test("of too many lists the one not used for longest gives way, and is made again when it is wanted", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const namespace of ["a", "b", "c"]) server.put("pods", pod("p", namespace));
    const cluster = connect(context, server, { maxStores: 2 });
    for (const namespace of ["a", "b", "c", "a"]) {
      assert.equal((await cluster.reader.list(PODS, { namespace }, PATIENT)).length, 1);
    }
    assert.equal(cluster.stores, 2);
    await until("two watches", () => server.watching === 2);
    assert.equal(server.asked("GET /api/v1/namespaces/a/pods?limit").length, 2);
  });

  test("who does not wait any longer is let go; the list is there for the next", async (context) => {
    const server = await FakeApiServer.start(context);
    let release: () => void = () => {};
    server.special.set("/api/v1/pods", (_, response) => {
      release = () => response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [pod("a")] }));
    });
    const { reader } = connect(context, server);
    const controller = new AbortController();
    const waiting = reader.list(PODS, {}, controller.signal);
    await until("the list", () => server.asked(LIST).length === 1);
    controller.abort();
    await assert.rejects(waiting, /the caller no longer waits for the answer/);
    server.special.clear();
    release();
    assert.deepEqual(names(await reader.list(PODS, {}, PATIENT)), ["a"]);
    assert.equal(server.asked(LIST).length, 1);
  });

  test("an answer that is too large is an error", async (context) => {
    const server = await FakeApiServer.start(context);
    server.special.set("/api/v1/pods", (_, response) => {
      const megabyte = Buffer.alloc(1024 * 1024, 32);
      // As much as is taken: the runner remembers each write for as long as the test goes on, and there is an end to what it can.
      const more = (): void => {
        if (response.destroyed) return;
        if (response.write(megabyte)) setImmediate(more);
        else response.once("drain", more);
      };
      more();
    });
    const { reader } = connect(context, server);
    await assert.rejects(reader.list(PODS, {}, PATIENT), {
      code: "KUBERNETES_UNREACHABLE",
      message: /more than 67108864 bytes/,
    });
  });
});
