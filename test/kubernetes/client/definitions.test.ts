import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { FakeApiServer, status } from "./fake-api-server.js";
import { connect, until } from "./support.js";

const GADGET = { group: "gadgets.example", version: "v1", kind: "Gadget" };
const VERSION = "/apis/gadgets.example/v1";
const DEFINITIONS = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async function cluster(context: TestContext, watched: boolean) {
  const server = await FakeApiServer.start(context);
  if (!watched) server.forbidden.add("list customresourcedefinitions");
  const client = connect(context, server);
  const define = (namespaced: boolean): void => {
    server.resources.set(VERSION, [{ name: "gadgets", kind: "Gadget", namespaced }]);
    server.put("customresourcedefinitions", { metadata: { name: "gadgets.gadgets.example" } });
  };
  const remove = (): void => {
    server.resources.delete(VERSION);
    server.remove("customresourcedefinitions", "gadgets.gadgets.example");
  };
  const namespaced = async () => client.resources.namespaced(GADGET);
  const asked = () => server.requests.filter((request) => request === `GET ${VERSION}`).length;
  return { server, client, define, remove, namespaced, asked };
}

for (const watched of [true, false]) {
  describe(`kinds that are not built in, where their definitions ${watched ? "are" : "may not be"} watched`, () => {
    test("are known within a second of their definition", async (context) => {
      const { client, define, namespaced } = await cluster(context, watched);
      assert.equal(await namespaced(), undefined);
      await until("definitions", () => client.cluster.definitions.watching === watched);
      define(true);
      client.skip(1_000);
      await until("the kind", async () => (await namespaced()) === true);
    });

    test("are known anew within a second when they were made anew with another scope", async (context) => {
      const { server, client, define, remove, namespaced } = await cluster(context, watched);
      define(true);
      server.put("gadgets", { metadata: { name: "a", namespace: "n" } });
      assert.equal(await namespaced(), true);
      assert.ok(await client.resources.get(GADGET, "n", "a"));
      await until("definitions", () => client.cluster.definitions.watching === watched);
      remove();
      server.remove("gadgets", "a", "n");
      define(false);
      server.put("gadgets", { metadata: { name: "a" } });
      client.skip(1_000);
      await until("the scope", async () => (await namespaced()) === false);
      const found = await client.resources.get(GADGET, "", "a");
      assert.ok(found !== undefined && !(found instanceof LookupFailure));
    });
  });
}

describe("definitions", () => {
  test("are watched from the first kind on that is not built in, with their metadata only", async (context) => {
    const { server, client, define, namespaced } = await cluster(context, true);
    await client.resources.get({ group: "", version: "v1", kind: "Pod" }, "n", "a");
    assert.deepEqual(server.asked(DEFINITIONS), []);
    define(true);
    const accepted: unknown[] = [];
    server.special.set(DEFINITIONS.slice(4), (request, response) => {
      accepted.push(request.headers.accept);
      status(response, 500, "", "later");
    });
    await namespaced();
    await until("the list", () => accepted.length === 1);
    assert.equal(accepted[0], "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  });

  test("are not asked about again as long as they do not change", async (context) => {
    const { client, define, namespaced, asked } = await cluster(context, true);
    define(true);
    await namespaced();
    await until("definitions", () => client.cluster.definitions.watching);
    client.skip(201);
    await namespaced();
    assert.equal(asked(), 2, "once more, because something may have changed before the watch");
    for (let i = 0; i < 4; i++) {
      client.skip(60_000);
      assert.equal(await namespaced(), true);
    }
    assert.equal(asked(), 2);
  });

  test("that change are asked about again until discovery has followed", async (context) => {
    const { server, client, define, namespaced } = await cluster(context, true);
    define(true);
    await namespaced();
    await until("definitions", () => client.cluster.definitions.watching);
    const told: unknown[] = [];
    client.cluster.definitions.changed((group) => told.push(group));
    server.put("customresourcedefinitions", { metadata: { name: "gadgets.gadgets.example" } });
    await until("the change", () => told.length > 0);
    assert.deepEqual(told, ["gadgets.example"]);
    client.skip(300);
    assert.equal(await namespaced(), true, "as it still is");
    server.resources.set(VERSION, [{ name: "gadgets", kind: "Gadget", namespaced: false }]);
    client.skip(300);
    assert.equal(await namespaced(), false);
  });

  test("of a resource that answers that it is not there are asked about again", async (context) => {
    const { server, client, define, namespaced, asked } = await cluster(context, true);
    define(false);
    await namespaced();
    await until("definitions", () => client.cluster.definitions.watching);
    client.skip(201);
    assert.equal(await namespaced(), false);
    const before = asked();
    const place = `${VERSION}/gadgets/a`;
    server.special.set(place, (_, response) => status(response, 404, "NotFound", 'gadgets "a" not found'));
    assert.equal(await client.resources.get(GADGET, "", "a"), undefined);
    await namespaced();
    assert.equal(asked(), before, "only the object is not there");
    server.special.set(place, (_, response) => status(response, 404, "", "404 page not found"));
    client.skip(1_001);
    assert.equal(await client.resources.get(GADGET, "", "a"), undefined);
    client.skip(201);
    await namespaced();
    assert.equal(asked(), before + 1);
  });
});
