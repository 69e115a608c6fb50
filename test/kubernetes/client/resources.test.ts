import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuthorizerAttributes } from "../../../src/world/authorizer/authorizer.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { LayeredResources } from "../../../src/world/resources/layered-resources.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { FakeApiServer, json, status } from "./fake-api-server.js";
import { connect, names, until } from "./support.js";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap" };
const LIMIT = { group: "acme.example", version: "v1", kind: "Limit" };

const configMap = (name: string, namespace: string, data: object = {}) => ({ metadata: { name, namespace }, data });
const metadataOf = (object: unknown) => (object as { metadata: { name: string } } | undefined)?.metadata.name;

describe("the cluster as policies see it", () => {
  test("Namespaces come from a watch, and by name when it has not brought them yet", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("namespaces", { metadata: { name: "prod", labels: { env: "prod" } } });
    const cluster = connect(context, server);
    const { resources } = cluster;
    assert.equal(metadataOf(await resources.namespace("prod")), "prod");
    await until("the watch", () => server.watching === 1);
    server.requests.length = 0;
    assert.equal(metadataOf(resources.namespace("prod")), "prod");
    assert.deepEqual(server.requests, [], "no request for what is watched");
    server.putUnseen("namespaces", { metadata: { name: "new" } });
    assert.equal(metadataOf(await resources.namespace("new")), "new");
    assert.equal(await resources.namespace("absent"), undefined);
    assert.ok(resources.namespace("") instanceof LookupFailure);
    assert.equal(await resources.namespace("../.."), undefined);
  });

  test("parameters by name and all of a namespace; scope of kinds; unknown kinds", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("configmaps", configMap("b", "n"));
    server.put("configmaps", configMap("a", "n"));
    server.put("configmaps", configMap("c", "other"));
    server.put("limits", { metadata: { name: "l" } });
    const { resources } = connect(context, server);
    assert.equal(metadataOf(await resources.get(CONFIG_MAP, "n", "a")), "a");
    assert.equal(await resources.get(CONFIG_MAP, "n", "x"), undefined);
    const list = async (namespace: string) => names((await resources.list(CONFIG_MAP, namespace)) as []);
    assert.deepEqual(await list("n"), ["a", "b"]);
    assert.deepEqual(await list(""), ["a", "b", "c"]);
    assert.equal(metadataOf(await resources.get(LIMIT, "", "l")), "l");
    assert.equal(await resources.namespaced(CONFIG_MAP), true);
    assert.equal(await resources.namespaced(LIMIT), false);
    const unknown = { group: "acme.example", version: "v9", kind: "Limit" };
    assert.equal(await resources.namespaced(unknown), undefined);
  });

  test("what may not be listed is still found by name; a list of it fails with the server's words", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("configmaps", configMap("a", "n"));
    server.special.set("/api/v1/configmaps", (_, response) =>
      status(response, 403, "Forbidden", "configmaps is forbidden"),
    );
    const { resources } = connect(context, server);
    const listed = await resources.list(CONFIG_MAP, "n");
    assert.ok(listed instanceof LookupFailure);
    assert.equal(listed.message, "configmaps is forbidden");
    assert.equal(metadataOf(await resources.get(CONFIG_MAP, "n", "a")), "a");
  });

  test("what is not there in time is not waited for", async (context) => {
    const server = await FakeApiServer.start(context);
    server.special.set("/api/v1/configmaps", () => {});
    server.special.set("/api/v1/namespaces/n/configmaps/a", () => {});
    const { resources } = connect(context, server, { waitMs: 50 });
    const [listed, found] = await Promise.all([resources.list(CONFIG_MAP, "n"), resources.get(CONFIG_MAP, "n", "a")]);
    assert.ok(listed instanceof LookupFailure && found instanceof LookupFailure);
    assert.equal(
      listed.message,
      "paramKind kind `&ParamKind{APIVersion:v1,Kind:ConfigMap,}` not yet synced to use for admission",
    );
    assert.equal(found.message, "the API server did not answer in time");
  });

  test("all served versions of a resource are equivalent, and events of both groups", async (context) => {
    const server = await FakeApiServer.start(context);
    const { resources } = connect(context, server);
    const ask = async (group: string, resource: string, subresource = "") => {
      const found = await resources.equivalents({ group, version: "v1", resource }, subresource);
      assert.ok(Array.isArray(found), String(found));
      return (found as { resource: { group: string; version: string } }[]).map(
        ({ resource: { group: of, version } }) => `${of}/${version}`,
      );
    };
    assert.deepEqual(await ask("acme.example", "limits"), ["acme.example/v1", "acme.example/v2"]);
    assert.deepEqual(await ask("", "events"), ["/v1", "events.k8s.io/v1"]);
    assert.deepEqual(await ask("", "pods"), ["/v1"]);
    const nowhere = { group: "nowhere.example", version: "v1", resource: "things" };
    assert.equal(await resources.equivalents(nowhere, ""), undefined, "nobody knows");
    const unserved = { group: "acme.example", version: "v9", resource: "limits" };
    assert.equal(await resources.equivalents(unserved, ""), undefined);
  });

  test("what was defined a moment ago has its versions at once", async (context) => {
    const server = await FakeApiServer.start(context);
    const { resources } = connect(context, server);
    const limits = { group: "acme.example", version: "v1", resource: "limits" };
    const gadgets = { ...limits, resource: "gadgets" };
    assert.ok(Array.isArray(await resources.equivalents(limits, "")));
    for (const version of ["v1", "v2"]) {
      const defined = { resources: [{ name: "gadgets", kind: "Gadget", namespaced: true }] };
      server.special.set(`/apis/acme.example/${version}`, (_, response) => json(response, 200, defined));
    }
    const found = await resources.equivalents(gadgets, "");
    assert.ok(Array.isArray(found));
    assert.deepEqual(
      found.map(({ resource }) => resource.version),
      ["v1", "v2"],
    );
  });

  test("objects are not converted here", async (context) => {
    const server = await FakeApiServer.start(context);
    const { resources } = connect(context, server);
    const object = { apiVersion: "acme.example/v1", kind: "Limit" };
    assert.equal(resources.convert(object, LIMIT), object);
    assert.ok(resources.convert(object, { ...LIMIT, version: "v2" }) instanceof LookupFailure);
  });
});

describe("documents in front of a cluster", () => {
  test("win over what it holds, and are added to it", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("configmaps", configMap("a", "n", { from: "cluster" }));
    server.put("configmaps", configMap("b", "n", { from: "cluster" }));
    server.put("namespaces", { metadata: { name: "n" } });
    const documents = ["a", "c"].map((name) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      ...configMap(name, "n", { from: "file" }),
    }));
    const layered = new LayeredResources(new FileResources(documents), connect(context, server).resources);
    const listed = (await layered.list(CONFIG_MAP, "n")) as { data: { from: string } }[];
    assert.deepEqual(names(listed), ["a", "b", "c"]);
    assert.deepEqual(
      listed.map(({ data }) => data.from),
      ["file", "cluster", "file"],
    );
    const get = async (name: string) =>
      ((await layered.get(CONFIG_MAP, "n", name)) as { data: { from: string } }).data.from;
    assert.equal(await get("a"), "file");
    assert.equal(await get("b"), "cluster");
    assert.equal(metadataOf(await layered.namespace("n")), "n");
    assert.equal(await layered.namespace("absent"), undefined);
    assert.equal(await layered.namespaced(LIMIT), false);
  });
});

describe("authorizer", () => {
  const attributes: AuthorizerAttributes = {
    user: { name: "jane", uid: "7", groups: ["b", "a"], extra: { k: ["v"] } },
    verb: "get",
    group: "apps",
    version: "*",
    resource: "deployments",
    subresource: "scale",
    namespace: "n",
    name: "d",
    path: "",
    fieldSelector: "spec.x=y",
    labelSelector: "app in (a,b)",
    selectorError: "",
  };
  test("asks by SubjectAccessReview, once for equal questions", async (context) => {
    const server = await FakeApiServer.start(context);
    server.access.set("jane", { allowed: true, reason: "because" });
    const { authorizer } = connect(context, server);
    const ask = async (question: AuthorizerAttributes) => await authorizer.authorize(question);
    assert.deepEqual(await ask(attributes), { decision: "allow", reason: "because" });
    await ask({ ...attributes, user: { ...attributes.user, groups: ["a", "b"] } });
    assert.deepEqual(server.reviews, [
      {
        user: "jane",
        uid: "7",
        groups: ["a", "b"],
        extra: { k: ["v"] },
        resourceAttributes: {
          verb: "get",
          group: "apps",
          version: "*",
          resource: "deployments",
          subresource: "scale",
          namespace: "n",
          name: "d",
          fieldSelector: { rawSelector: "spec.x=y" },
          labelSelector: { rawSelector: "app in (a,b)" },
        },
      },
    ]);
    const user = { name: "bob", uid: "", groups: [], extra: {} };
    server.access.set("bob", { allowed: false, denied: true });
    assert.deepEqual(await ask({ ...attributes, user, path: "/healthz" }), { decision: "deny", reason: "" });
    assert.deepEqual(server.reviews.at(-1), { user: "bob", nonResourceAttributes: { path: "/healthz", verb: "get" } });
    server.access.set("bob", { allowed: false, reason: "hm", evaluationError: "role not found" });
    assert.deepEqual(await ask({ ...attributes, user }), {
      decision: "noOpinion",
      reason: "hm",
      error: "role not found",
    });
  });

  test("a review that fails is no permission, and says why", async (context) => {
    const server = await FakeApiServer.start(context);
    server.special.set("/apis/authorization.k8s.io/v1/subjectaccessreviews", (_, response) =>
      json(response, 403, { kind: "Status", reason: "Forbidden", message: "subjectaccessreviews is forbidden" }),
    );
    const { authorizer } = connect(context, server);
    const failed = { decision: "noOpinion", reason: "", error: "subjectaccessreviews is forbidden" };
    assert.deepEqual(await authorizer.authorize(attributes), failed);
    assert.deepEqual(authorizer.authorize(attributes), failed, "a failure answers for a while");
  });
});
