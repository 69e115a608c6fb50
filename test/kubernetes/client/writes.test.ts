import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { ApiError, isConflict, isForbidden, isNotFound, reasonOf } from "../../../src/kubernetes/client/errors.js";
import { collectionPath, objectPath, statusPath, subresourcePath } from "../../../src/kubernetes/client/paths.js";
import { FakeApiServer, status } from "./fake-api-server.js";
import { connect, PATIENT } from "./support.js";

const LEASES = { group: "coordination.k8s.io", version: "v1", plural: "leases" };
const ALL = collectionPath(LEASES, "default");
const ONE = objectPath(LEASES, "default", "leader");
const lease = (holderIdentity: string, metadata: object = {}) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "leader", namespace: "default", ...metadata },
  spec: { holderIdentity },
});

async function server(context: TestContext) {
  const fake = await FakeApiServer.start(context);
  const { http } = connect(context, fake).cluster;
  const stored = () => fake.object("leases", "leader", "default");
  return { fake, http, stored };
}

/** The metadata of what a write has answered. */
const metadataOf = (object: unknown) => (object as { metadata: Record<string, string> }).metadata;

describe("what is written", () => {
  test("is created once; another of that name is told from other conflicts", async (context) => {
    const { fake, http, stored } = await server(context);
    const created = await http.create(ALL, lease("a"), { fieldManager: "me" }, PATIENT);
    assert.deepEqual(stored(), created);
    assert.deepEqual(fake.asked("POST"), [`POST ${ALL}?fieldManager=me`]);
    await assert.rejects(http.create(ALL, lease("b"), {}, PATIENT), (error) => {
      assert.ok(error instanceof ApiError && error.reason === "AlreadyExists" && !isConflict(error));
      return true;
    });
  });

  test("replaces the version that it names, and no other", async (context) => {
    const { http, stored } = await server(context);
    const created = metadataOf(await http.create(ALL, lease("a"), {}, PATIENT));
    const { resourceVersion } = created;
    const replaced = await http.replace(ONE, lease("b", { resourceVersion }), { fieldManager: "me" }, PATIENT);
    assert.equal(metadataOf(replaced).uid, created.uid);
    assert.notEqual(metadataOf(replaced).resourceVersion, resourceVersion);
    await assert.rejects(http.replace(ONE, lease("c", { resourceVersion }), {}, PATIENT), (error) => {
      return isConflict(error);
    });
    assert.deepEqual(stored()?.spec, { holderIdentity: "b" });
    await assert.rejects(http.replace(`${ALL}/other`, lease("c"), {}, PATIENT), isNotFound);
  });

  test("patches by merging or by operations, the object or a subresource", async (context) => {
    const { fake, http, stored } = await server(context);
    await http.create(ALL, lease("a"), {}, PATIENT);
    await http.patch(ONE, "merge", { spec: { holderIdentity: null, renewed: 1 } }, { fieldManager: "me" }, PATIENT);
    assert.deepEqual(stored()?.spec, { renewed: 1 });
    await http.patch(ONE, "json", [{ op: "replace", path: "/spec/renewed", value: 2 }], {}, PATIENT);
    assert.deepEqual(stored()?.spec, { renewed: 2 });
    const status = statusPath(LEASES, "default", "leader");
    await http.patch(status, "merge", { spec: { renewed: 3 }, status: { ready: true } }, {}, PATIENT);
    assert.deepEqual([stored()?.spec, stored()?.status], [{ renewed: 2 }, { ready: true }]);
    assert.deepEqual(
      fake.patches.map(({ type }) => type),
      ["application/merge-patch+json", "application/json-patch+json", "application/merge-patch+json"],
    );
    const impossible = http.patch(ONE, "json", [{ op: "remove", path: "/spec/none" }], {}, PATIENT);
    await assert.rejects(impossible, { status: 422 });
  });

  test("is applied: created, changed, or not changed at all; forced unless that is not wanted", async (context) => {
    const { fake, http, stored } = await server(context);
    await http.apply(ONE, lease("a"), { fieldManager: "me" }, PATIENT);
    const { resourceVersion } = metadataOf(stored());
    await http.apply(ONE, lease("a"), { fieldManager: "me", force: false }, PATIENT);
    assert.equal(metadataOf(stored()).resourceVersion, resourceVersion);
    await http.apply(ONE, lease("b"), { fieldManager: "me", dryRun: true }, PATIENT);
    assert.deepEqual(stored()?.spec, { holderIdentity: "a" });
    assert.deepEqual(
      fake.patches.map(({ query, type }) => `${query} ${type}`),
      [
        "?fieldManager=me&force=true application/apply-patch+yaml",
        "?fieldManager=me&force=false application/apply-patch+yaml",
        "?fieldManager=me&dryRun=All&force=true application/apply-patch+yaml",
      ],
    );
  });

  test("is deleted when it is what the preconditions say", async (context) => {
    const { fake, http, stored } = await server(context);
    const { uid } = metadataOf(await http.create(ALL, lease("a"), {}, PATIENT));
    const foreign = http.delete(ONE, { preconditions: { uid: "another" } }, PATIENT);
    await assert.rejects(foreign, isConflict);
    await http.delete(ONE, { preconditions: { uid: uid ?? "" }, propagationPolicy: "Background" }, PATIENT);
    assert.equal(stored(), undefined);
    assert.equal(fake.asked("DELETE").at(-1), `DELETE ${ONE}?propagationPolicy=Background`);
    await assert.rejects(http.delete(ONE, {}, PATIENT), isNotFound);
  });

  test("fails with the server's words where it may not be", async (context) => {
    const { fake, http } = await server(context);
    fake.forbidden.add("create leases");
    await assert.rejects(http.create(ALL, lease("a"), {}, PATIENT), isForbidden);
    fake.special.set(ALL, (_, response) => status(response, 422, "Invalid", "spec.x: Required value"));
    await assert.rejects(http.create(ALL, lease("a"), {}, PATIENT), (error) => {
      return error instanceof ApiError && error.status === 422 && reasonOf(error) === "spec.x: Required value";
    });
  });

  test("stands where nobody's name leads elsewhere", () => {
    assert.equal(subresourcePath(LEASES, "default", "a", "scale"), `${ALL}/a/scale`);
    assert.throws(() => subresourcePath(LEASES, "default", "a", ".."), { code: "KUBERNETES_RESOURCE" });
  });
});
