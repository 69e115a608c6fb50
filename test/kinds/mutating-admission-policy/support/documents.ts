/** Short ways for tests to make MutatingAdmissionPolicies out of documents, and to ask them. */

import type { Problem } from "../../../../src/config/documents/problem.js";
import { parseJson } from "../../../../src/data/json.js";
import { createMutationCompilers } from "../../../../src/kinds/mutating-admission-policy/compilers.js";
import { type PreparedDocuments, prepareDocuments } from "../../../../src/kinds/mutating-admission-policy/prepare.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { bundledSchemas } from "../../../../src/kubernetes/structured-merge/merge-schemas.js";
import type { AdmissionQuestion, Outcome, Policy } from "../../../../src/policy/index.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { type OuterWorld, worldOf } from "../../../../src/world/world.js";

const compilers = createMutationCompilers();
const schemas = bundledSchemas();

/** A policy about everything, of which a part is replaced. */
export const policy = (spec: JsonObject, name = "p"): JsonObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicy",
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }],
    },
    reinvocationPolicy: "Never",
    ...spec,
  },
});

/** A binding of a policy. */
export const binding = (spec: JsonObject = {}, name = "b"): JsonObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicyBinding",
  metadata: { name },
  spec: { policyName: "p", ...spec },
});

/** Mutations that are JSON Patches. */
export const patches = (...expressions: readonly string[]): JsonObject => ({
  mutations: expressions.map((expression) => ({ patchType: "JSONPatch", jsonPatch: { expression } })),
});

/** Mutations that are ApplyConfigurations. */
export const applies = (...expressions: readonly string[]): JsonObject => ({
  mutations: expressions.map((expression) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } })),
});

/** A ConfigMap. */
export const map = (data: JsonObject, name = "m"): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns" },
  data,
});

/** What was made of documents. */
export function prepare(documents: readonly JsonObject[]): PreparedDocuments {
  const written = documents.map((value, i) => ({
    value,
    problem: (severity: Problem["severity"], path: Problem["path"], message: string): Problem => ({
      severity,
      path,
      message,
      file: `${i}.yaml`,
      line: 1,
      column: 1,
    }),
  }));
  return prepareDocuments(written, { compilers, schemas });
}

/** The policies of documents together; they must be without a mistake. */
export function asked(documents: readonly JsonObject[], more: Partial<OuterWorld> = {}): Policy {
  const prepared = prepare(documents);
  const errors = prepared.problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return prepared.policy("p", worldOf(prepared.objects, { authorizer: NO_OPINION, now: () => 0, ...more }));
}

/** A request about an object, by default one that creates a ConfigMap. */
export function review(object: JsonObject = map({ a: "1" }), more: JsonObject = {}): AdmissionQuestion {
  const request = {
    uid: "u",
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    name: "m",
    namespace: "ns",
    operation: "CREATE",
    userInfo: { username: "alice" },
    object,
    ...more,
  };
  return {
    kind: "admission",
    request: request as unknown as AdmissionQuestion["request"],
    requestBytes: () => new Uint8Array(),
  };
}

/** The steps of the patch that an outcome brings; none without one. */
export function stepsOf(outcome: Outcome): unknown {
  const patch = "mutation" in outcome && outcome.mutation?.kind === "patch" ? outcome.mutation.patch : undefined;
  return patch === undefined ? [] : parseJson(Buffer.from(patch, "base64").toString());
}
