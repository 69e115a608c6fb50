import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { member } from "../../src/kubernetes/object.js";
import { asStored } from "../../src/world/resources/file-resources.js";

/** What a cluster holds of an object, at a path. */
function stored(apiVersion: string, kind: string, written: object, ...path: (string | number)[]): unknown {
  let at: unknown = asStored({ apiVersion, kind, ...written });
  for (const part of path) at = Array.isArray(at) && typeof part === "number" ? at[part] : member(at, String(part));
  return at;
}

const deployment = (spec: object, ...path: (string | number)[]): unknown =>
  stored("apps/v1", "Deployment", { spec }, ...path);
const pod = (spec: object, ...path: (string | number)[]): unknown =>
  deployment({ template: { spec } }, "spec", "template", "spec", ...path);
const service = (spec: object, ...path: (string | number)[]): unknown => stored("v1", "Service", { spec }, ...path);

describe("an object of a built-in kind, as a cluster holds it", () => {
  test("has empty values for nulls in maps and lists", () => {
    assert.deepEqual(stored("v1", "ConfigMap", { data: { k: null } }, "data"), { k: "" });
    assert.deepEqual(stored("v1", "Namespace", { spec: { finalizers: [null] } }, "spec", "finalizers"), [""]);
    assert.deepEqual(pod({ containers: [{ resources: { limits: { cpu: null } } }] }, "containers", 0, "resources"), {
      limits: { cpu: "0" },
    });
  });

  test("keeps pointers to what is empty, and nulls that are not optional", () => {
    assert.equal(stored("v1", "ConfigMap", { immutable: false }, "immutable"), false);
    assert.equal(stored("rbac.authorization.k8s.io/v1", "Role", { rules: null }, "rules"), null);
    assert.equal(deployment({}, "spec", "selector"), null);
    const metadata = { deletionGracePeriodSeconds: 0 };
    assert.deepEqual(stored("v1", "ConfigMap", { metadata }, "metadata"), metadata);
  });

  test("keeps structs that are empty", () => {
    assert.deepEqual(service({}, "status"), { loadBalancer: {} });
    assert.deepEqual(deployment({}, "spec", "strategy"), {});
    assert.deepEqual(pod({ containers: [{ name: "c" }] }, "containers"), [{ name: "c", resources: {} }]);
    const job = stored("batch/v1", "CronJob", {}, "spec", "jobTemplate");
    assert.deepEqual(member(job, "metadata"), {});
  });

  test("lacks what is optional and empty", () => {
    const empty = { hostNetwork: false, restartPolicy: "", tolerations: [] };
    assert.deepEqual(pod({ ...empty, containers: [] }), { containers: [] });
    assert.deepEqual(service({ clusterIP: "", selector: {}, ports: [{ port: 1, nodePort: 0 }] }, "spec"), {
      ports: [{ port: 1, targetPort: 0 }],
    });
    const ingress = stored("networking.k8s.io/v1", "Ingress", { spec: { tls: [], rules: [{ host: "" }] } }, "spec");
    assert.deepEqual(ingress, { rules: [{}] });
    const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
    const metadata = { ownerReferences: [{ ...owner, controller: null }] };
    assert.deepEqual(stored("v1", "ConfigMap", { metadata }, "metadata", "ownerReferences", 0), owner);
  });

  test("lacks members that are written in another case", () => {
    assert.deepEqual(deployment({ Replicas: 3 }, "spec"), {
      selector: null,
      strategy: {},
      template: { metadata: {}, spec: { containers: null } },
    });
  });

  test("has times in UTC and whole seconds, base64 and quantities in one way", () => {
    const metadata = { creationTimestamp: "2024-05-06T01:02:03.9+02:00" };
    assert.deepEqual(stored("v1", "Secret", { metadata, data: { a: "YQ\n==", b: "YR==" } }), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { creationTimestamp: "2024-05-05T23:02:03Z" },
      data: { a: "YQ==", b: "YQ==" },
    });
    const limits = { a: "1000m", b: 0.5, c: "1Ei", d: "1.5Gi" };
    const limited = { limits: [{ type: "Pod", max: limits }] };
    assert.deepEqual(stored("v1", "LimitRange", { spec: limited }, "spec", "limits", 0, "max"), {
      a: "1",
      b: "500m",
      c: "1Ei",
      d: "1536Mi",
    });
  });
});
