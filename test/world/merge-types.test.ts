import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { describe, test } from "node:test";
import { ClusterMergeTypes } from "../../src/world/merge-types.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";
import { FakeApiServer, json, status } from "../kubernetes/client/fake-api-server.js";
import { connect } from "../kubernetes/client/support.js";

const GROUP = "acme.example";
const PATH = `/openapi/v3/apis/${GROUP}/v1`;
const KIND = { group: GROUP, version: "v1", kind: "Thing" };
const document = (fields: readonly string[]) => ({
  components: {
    schemas: {
      Thing: {
        type: "object",
        properties: Object.fromEntries(fields.map((name) => [name, { type: "string" }])),
        "x-kubernetes-group-version-kind": [KIND],
      },
    },
  },
});

/** A server whose one document can be replaced, and what it was asked for. */
async function publishing(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const published = { fields: ["a"], url: `${PATH}?hash=1` };
  const asked: string[] = [];
  server.special.set("/openapi/v3", (_, response) => {
    asked.push("list");
    json(response, 200, { paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL: published.url } } });
  });
  server.special.set(PATH, ({ url }, response) => {
    asked.push(String(url));
    json(response, 200, document(published.fields));
  });
  const client = connect(context, server);
  const types = new ClusterMergeTypes({ http: client.cluster.http, now: client.now, signal: client.cluster.signal });
  return { server, published, asked, types, skip: (milliseconds: number) => client.skip(milliseconds) };
}

/** The fields of a thing, as far as its types are known. */
async function fieldsOf(types: ClusterMergeTypes): Promise<unknown> {
  const found = await types.version(GROUP, "v1");
  if (found === undefined || found instanceof LookupFailure) return found;
  return [...(found.typeOf("Thing")?.resolve()?.map?.fields.keys() ?? [])];
}

describe("the types that a cluster publishes", () => {
  test("are read once, and again when the list says that they have changed", async (context) => {
    const { published, asked, types, skip } = await publishing(context);
    assert.deepEqual(await fieldsOf(types), ["a"]);
    assert.deepEqual(await fieldsOf(types), ["a"]);
    assert.deepEqual(asked, ["list", `${PATH}?hash=1`]);
    skip(6_000);
    assert.deepEqual(await fieldsOf(types), ["a"]);
    assert.deepEqual(asked.splice(0), ["list", `${PATH}?hash=1`, "list"]);
    Object.assign(published, { fields: ["b"], url: `${PATH}?hash=2` });
    assert.deepEqual(await fieldsOf(types), ["a"], "the list is believed for a while");
    skip(6_000);
    assert.deepEqual(await fieldsOf(types), ["b"]);
    assert.deepEqual(asked, ["list", `${PATH}?hash=2`]);
  });

  test("are none for a group and version that is not published", async (context) => {
    const { types } = await publishing(context);
    assert.equal(await types.version("other.example", "v1"), undefined);
    assert.equal(await types.version("", "v1"), undefined);
  });

  test("are a failure where the server refuses, and where it points elsewhere", async (context) => {
    const { server, published, types, skip } = await publishing(context);
    for (const url of ["/api/v1/secrets", "/openapi/v3/../../api/v1/secrets", "https://other.example/openapi/v3/x"]) {
      published.url = url;
      assert.ok((await fieldsOf(types)) instanceof LookupFailure, url);
      skip(6_000);
    }
    server.special.set("/openapi/v3", (_, response) => status(response, 403, "Forbidden", "no"));
    assert.ok((await fieldsOf(types)) instanceof LookupFailure);
  });
});
