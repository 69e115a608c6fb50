/** Modules and a review for servers that are compared, such that both of them take them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { pod } from "./pods.js";

const METADATA = "io.kubewarden.metadata";

/** A number as WebAssembly writes sizes (LEB128). */
function size(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...size(value >> 7)];
}

/** Kubewarden's server finds out a module's kind from a custom section only: this writes a copy that has one, and returns its path. */
export function withMetadata(module: string, folder: string, executionMode: string): string {
  const bytes = readFileSync(module);
  if (WebAssembly.Module.customSections(new WebAssembly.Module(bytes), METADATA).length > 0) return module;
  const metadata = { rules: [], mutating: false, protocolVersion: "v1", executionMode };
  const body = Buffer.from(`${String.fromCharCode(METADATA.length)}${METADATA}${JSON.stringify(metadata)}`);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, module.replaceAll("/", "_"));
  writeFileSync(path, Buffer.concat([bytes, Buffer.from([0, ...size(body.length)]), body]));
  return path;
}

/** Who owns which field, as API servers add it to every object. */
function fieldsOf(value: unknown): JsonObject {
  if (Array.isArray(value)) {
    const items = value.filter(
      (item): item is JsonObject => typeof item === "object" && item !== null && "name" in item,
    );
    return Object.fromEntries(items.map((item) => [`k:${JSON.stringify({ name: item.name })}`, fieldsOf(item)]));
  }
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [`f:${key}`, fieldsOf(field)]));
}

/** A review of about 6 KB: a Pod with three containers that all policies measured here allow, as an API server sends it. */
export function podReview(): string {
  const object = structuredClone(pod(0)) as { metadata: JsonObject; spec: { containers: JsonObject[] } };
  const [first] = object.spec.containers;
  object.spec.containers.push({ ...first, name: "metrics" });
  const managed = {
    manager: "kubectl-client-side-apply",
    operation: "Update",
    apiVersion: "v1",
    time: "2026-11-01T10:00:00Z",
  };
  const fieldsV1 = {
    "f:metadata": fieldsOf({ labels: object.metadata.labels ?? {} }),
    "f:spec": fieldsOf(object.spec),
  };
  Object.assign(object.metadata, { managedFields: [{ ...managed, fieldsType: "FieldsV1", fieldsV1 }] });
  const [kind, resource] = [
    { group: "", version: "v1", kind: "Pod" },
    { group: "", version: "v1", resource: "pods" },
  ];
  const request = {
    uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
    ...{ kind, resource, requestKind: kind, requestResource: resource },
    ...{ name: object.metadata.name, namespace: object.metadata.namespace, operation: "CREATE" },
    userInfo: { username: "system:serviceaccount:kube-system:replicaset-controller", groups: ["system:authenticated"] },
    ...{ object, oldObject: null, dryRun: false },
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  };
  return JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request });
}
