/**
 * Decides a complete case: MutatingAdmissionPolicies, bindings, parameters, Namespaces, authorizer and request in one JSON object. Policies are
 * evaluated without validation.
 */
import { prepareTarget } from "../../../kinds/admission-policy/prepared-binding.js";
import { API_TYPES } from "../../../kinds/mutating-admission-policy/api-types.js";
import { compilePolicy } from "../../../kinds/mutating-admission-policy/compiled-policy.js";
import type { MutationCompilers } from "../../../kinds/mutating-admission-policy/compilers.js";
import {
  type MutatingDecision,
  refusalMessage,
  refusalReason,
} from "../../../kinds/mutating-admission-policy/decision.js";
import { MutatingPolicySet } from "../../../kinds/mutating-admission-policy/policy.js";
import { preparePolicy } from "../../../kinds/mutating-admission-policy/prepared-policy.js";
import {
  BINDING_KIND,
  type BindingResource,
  POLICY_KIND,
  type PolicyResource,
} from "../../../kinds/mutating-admission-policy/resource.js";
import type { RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import { findTypesOf } from "../../../kinds/shared/mutation/merge-types.js";
import type { Panic } from "../../../kinds/shared/mutation/mutate.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import {
  type BundledSchemas,
  customResourceSchemas,
  joinedSchemas,
  type MergeSchemas,
} from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { Failure } from "../../../policy/outcome.js";
import { type AuthorizerCheck, CaseAuthorizer } from "../admission-policy/case-authorizer.js";
import {
  boundPolicies,
  listOf,
  nobodyWaits,
  orUnusable,
  readRequest,
  resources,
} from "../admission-policy/case-reader.js";
import { type NativeStatus, requestName } from "../admission-policy/native-status.js";

// The API server's own answer, of in-process admission (spec mutating-admission-policy.md 8).

/** A native answer. Empty members are absent. */
interface NativeResult {
  readonly allowed: boolean;
  readonly status?: NativeStatus;
  /** The plugin's panic; a server answers 500. */
  readonly panic?: string;
  /** The object after all mutations. */
  readonly object?: unknown;
  /** The policies whose mutations the second pass has evaluated. */
  readonly reinvoked?: readonly string[];
  readonly authorizerChecks?: readonly AuthorizerCheck[];
}

/** A decision in the API server's words. */
function nativeResult(decision: MutatingDecision, request: RequestAttributes): NativeResult {
  const { object, reinvoked, failure } = decision;
  const again = reinvoked.length > 0 && { reinvoked };
  if (failure !== undefined && "panic" in failure) {
    return { panic: (failure as Panic).panic, allowed: false, ...again };
  }
  const status = nativeStatus(decision, request);
  return {
    allowed: status === undefined,
    ...(status && { status }),
    ...(status === undefined && object !== undefined && { object }),
    ...again,
  };
}

function nativeStatus({ failure, refusals }: MutatingDecision, request: RequestAttributes): NativeStatus | undefined {
  if (failure !== undefined) return failureStatus(failure, request);
  const [first] = refusals;
  if (first === undefined) return undefined;
  const { group, resource } = request.resource;
  return {
    status: "Failure",
    code: 403,
    reason: refusalReason(first),
    message: refusalMessage(first),
    details: {
      name: requestName(request),
      ...(group !== "" && { group }),
      kind: resource,
      causes: refusals.map((refusal) => ({ message: refusalMessage(refusal) })),
    },
  };
}

function failureStatus({ message, code = 500, reason, causes }: Failure, request: RequestAttributes): NativeStatus {
  const base = { status: "Failure", code, ...(reason !== undefined && { reason }), message };
  if (reason === "NotFound") return { ...base, details: { name: request.namespace, kind: "namespaces" } };
  if (causes === undefined) return base;
  return { ...base, details: { causes: causes.map((cause) => ({ message: cause.message ?? "" })) } };
}

/** Tools for deciding cases; made once for a run. */
export interface CaseTools {
  readonly compilers: MutationCompilers;
  readonly schemas: BundledSchemas;
}

/** The operations that the plugin handles. */
const HANDLED: ReadonlySet<string> = new Set(["CREATE", "UPDATE", "CONNECT"]);

/**
 * Decides a case; or says why it is unusable.
 * @param typed whether objects of built-in kinds are reduced to the fields of Go's structs, as inside of a server
 */
export function decideCase(written: JsonObject, tools: CaseTools, typed = false) {
  return orUnusable(() => decide(written, tools, typed));
}

function decide(written: JsonObject, { compilers, schemas }: CaseTools, typed: boolean): NativeResult {
  const kinds = { policy: POLICY_KIND, binding: BINDING_KIND, types: API_TYPES };
  const policies = boundPolicies(
    written,
    kinds,
    (policy: PolicyResource, bindings: readonly BindingResource[], name) => {
      const compiled = compilePolicy(policy.spec, compilers, "stored");
      return preparePolicy(policy, compiled, bindings.map(prepareTarget), `${POLICY_KIND} '${name}'`);
    },
  );
  const authorizer = new CaseAuthorizer(written.authorizer);
  const world = { resources: resources(written), authorizer, now: () => 0 };
  const findTypes = findTypesOf(schemasOf(written, schemas));
  const set = new MutatingPolicySet(policies, {
    id: "case",
    dialect: compilers.common.dialect,
    world,
    findTypes,
    typed,
  });
  const request = readRequest(written.request);
  // The plugin is called for no other operation.
  if (!HANDLED.has(request.operation))
    return { allowed: true, ...(request.object !== undefined && { object: request.object }) };
  const decision = set.decide(request, nobodyWaits());
  if (decision instanceof Promise) throw new Error("what is written down is at hand");
  const result = nativeResult(decision, request);
  if (result.panic !== undefined) return result;
  return {
    ...result,
    ...(authorizer.checks.length > 0 && { authorizerChecks: authorizer.checks }),
  };
}

/** The schema of custom resources without one in the case. */
const ANY_RESOURCE = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The types of built-in kinds, and of the custom resources that the case has published. */
function schemasOf(written: JsonObject, bundled: BundledSchemas): MergeSchemas {
  const definitions = listOf(written, "restMappings").filter((mapping) => member(mapping, "unpublished") !== true);
  return joinedSchemas(customResourceSchemas(definitions.map(definitionOf), bundled), bundled);
}

function definitionOf(mapping: unknown): JsonObject {
  const schema = member(mapping, "schema");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: {
      group: text(mapping, "group"),
      names: { kind: text(mapping, "kind"), plural: text(mapping, "resource") },
      versions: [
        {
          name: text(mapping, "version"),
          served: true,
          schema: { openAPIV3Schema: isObject(schema) ? schema : ANY_RESOURCE },
        },
      ],
    },
  };
}
