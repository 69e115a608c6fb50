/** Policies made and asked in short. */
import assert from "node:assert/strict";
import { preparePolicies } from "../../../src/kinds/kyverno/index.js";
import { KyvernoPolicySet } from "../../../src/kinds/kyverno/policy.js";
import type { ExceptionResource, PolicyResource } from "../../../src/kinds/kyverno/resource.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion, EvaluationContext, RawQuestion } from "../../../src/policy/index.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import type { World } from "../../../src/world/world.js";

const EVERYTHING = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
export const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] };

/** A policy about everything, unless `spec` says otherwise. */
export const policy = (
  spec: JsonObject,
  { name = "p", namespace }: { readonly name?: string; readonly namespace?: string } = {},
): PolicyResource =>
  ({
    apiVersion: "policies.kyverno.io/v1",
    kind: namespace === undefined ? "ValidatingPolicy" : "NamespacedValidatingPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: { matchConstraints: { resourceRules: [EVERYTHING] }, ...spec },
  }) as unknown as PolicyResource;

/** A policy that no object meets. */
export const never = (spec: JsonObject = {}, about: Parameters<typeof policy>[1] = {}): PolicyResource =>
  policy({ validations: [{ expression: "false", message: "never" }], ...spec }, about);

export const exception = (spec: JsonObject, kind = "ValidatingPolicy"): ExceptionResource =>
  ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "PolicyException",
    metadata: { name: "e", namespace: "ns" },
    spec: { policyRefs: [{ name: "p", kind }], ...spec },
  }) as unknown as ExceptionResource;

export const world = (more: Partial<World> = {}): World => ({
  resources: new FileResources([]),
  authorizer: NO_OPINION,
  now: () => 0,
  ...more,
});

/** A set of policies, which compile. */
export function setOf(
  policies: readonly PolicyResource[],
  options: {
    readonly exceptions?: readonly ExceptionResource[];
    readonly world?: World;
    readonly validationActions?: readonly string[];
  } = {},
): KyvernoPolicySet {
  const prepared = preparePolicies(policies, options.exceptions ?? []);
  assert.deepEqual(prepared.failures, []);
  const { validationActions } = options;
  return new KyvernoPolicySet(prepared.policies, { id: "p", world: options.world ?? world(), validationActions });
}

export const POD = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "ns" }, spec: { a: 1 } };

/** A request to create a Pod, or what `more` says. */
export const review = (more: JsonObject = {}, targeted = false): AdmissionQuestion => ({
  kind: "admission",
  request: {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    namespace: "ns",
    name: "web",
    userInfo: {},
    object: POD,
    ...more,
  } as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
  targeted,
});

export const raw = (payload: unknown): RawQuestion => ({ kind: "raw", payload, requestBytes: () => new Uint8Array() });

export const context = (more: Partial<EvaluationContext> = {}): EvaluationContext => ({
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  ...more,
});
