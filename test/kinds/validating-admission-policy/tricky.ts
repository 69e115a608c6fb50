import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { decideCase, type NativeResult } from "../../../src/offline/cases/validating-admission-policy/case.js";

/** The objects of the tricky cases (spec validating-admission-policy.md 13): policy `p.acme.example`, binding `b`, CREATE of Deployment `web` in namespace `ns`. */
export const ALL = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
export const rule = (group: string, version: string, resource: string, more: JsonObject = {}): JsonObject => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ["*"],
  resources: [resource],
  ...more,
});

export const NO = { expression: "false", message: "matched" };

export function policy(spec: JsonObject = {}, name = "p.acme.example"): JsonObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [ALL] }, validations: [NO], ...spec },
  };
}

export function binding(spec: JsonObject = {}, name = "b"): JsonObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: "p.acme.example", validationActions: ["Deny"], ...spec },
  };
}

export const matching = (...rules: JsonObject[]): JsonObject => ({ matchConstraints: { resourceRules: rules } });
export const validations = (...expressions: (string | JsonObject)[]): JsonObject => ({
  validations: expressions.map((each) => (typeof each === "string" ? { expression: each } : each)),
});

export const DEPLOYMENT: JsonObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "ns" },
  spec: { replicas: 3, paused: false },
};

/** A request about a resource; the object takes its kind. */
export function request(
  [group, version, resource, kind]: readonly [string, string, string, string],
  more: JsonObject = {},
): JsonObject {
  const object = {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name: "web" },
    ...(more.object as JsonObject | undefined),
  };
  return {
    kind: { group, version, kind },
    resource: { group, version, resource },
    name: "web",
    operation: "CREATE",
    userInfo: { username: "alice" },
    options: { apiVersion: "meta.k8s.io/v1", kind: "CreateOptions" },
    ...more,
    object: more.object === null ? null : object,
  };
}

export const deployment = (more: JsonObject = {}): JsonObject =>
  request(["apps", "v1", "deployments", "Deployment"], { namespace: "ns", object: DEPLOYMENT, ...more });

export const namespaceObject = (name: string, labels: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});

const compiler = createExpressionCompiler();

/** Decides with the table's defaults. */
export function decided(parts: JsonObject): NativeResult {
  const result = decideCase(
    {
      policies: [policy(parts.spec as JsonObject | undefined)],
      bindings: [binding(parts.binding as JsonObject | undefined)],
      namespaces: [namespaceObject("ns")],
      request: deployment(),
      ...parts,
    },
    compiler,
  );
  if ("error" in result) throw new Error(result.error);
  return result;
}

/** `D(text)` of the table. */
export const denied = (text: string): string =>
  `ValidatingAdmissionPolicy 'p.acme.example' with binding 'b' denied request: ${text}`;

/** The denial without the API server's prefix; `undefined` when admitted. */
export const denial = (parts: JsonObject): string | undefined => {
  const { status } = decided(parts);
  return status?.details?.causes?.[0]?.message ?? status?.message;
};

/** An expression that costs at least so much, from variables that are free to make. */
export const costly = (units: number): string => {
  const list = (length: number): string => `[${Array.from({ length }, () => 0).join(",")}]`;
  const side = Math.ceil(Math.sqrt(units / 4));
  return `${list(side)}.all(x, ${list(Math.ceil(units / 4 / side))}.all(y, x == y))`;
};

export const CONFIG = { apiVersion: "v1", kind: "ConfigMap" };
export const map = (name: string, data: JsonObject = {}, namespace = "ns"): JsonObject => ({
  ...CONFIG,
  metadata: { name, namespace },
  data,
});
export const IGNORE = { failurePolicy: "Ignore" };
export const WARN = { validationActions: ["Warn"] };
export const AUDIT = { validationActions: ["Audit"] };
export const LIMIT = { apiVersion: "acme.example/v1", kind: "Limit" };
export const conditions = (...expressions: string[]): JsonObject => ({
  matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
});
export const ref = (more: JsonObject): JsonObject => ({ paramRef: { parameterNotFoundAction: "Deny", ...more } });
export const FAILURE = "validation.policy.admission.k8s.io/validation_failure";
export const BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";
export const status = (parts: JsonObject) => decided(parts).status;
export const UNKNOWN_KEY = (expression: string, key: string): string =>
  denied(`expression '${expression}' resulted in error: no such key: ${key}`);
/** A list of so many elements in the object, for expressions that cost. */
export const withList = (length: number): JsonObject =>
  deployment({ object: { ...DEPLOYMENT, spec: { list: Array.from({ length }, (_, i) => i) } } });
