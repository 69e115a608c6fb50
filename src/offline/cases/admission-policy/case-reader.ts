/** Reads cases of admission policies: policies, and all their inputs. */
import type { ApiTypes } from "../../../kinds/admission-policy/api-types.js";
import { defaultBinding, defaultPolicy } from "../../../kinds/admission-policy/defaults.js";
import type { CommonBindingSpec, CommonPolicySpec, Resource } from "../../../kinds/admission-policy/resource.js";
import { decodeLeniently } from "../../../kinds/shared/decode/api-type.js";
import { attributesOf, type RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import {
  apiVersionOf,
  compareNames,
  type GroupVersionKind,
  type GroupVersionResource,
} from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { EvaluationContext } from "../../../policy/policy.js";
import { FileResources } from "../../../world/resources/file-resources.js";

/** A case that cannot be decided. */
export class CaseError extends Error {}

/** The context of a case, without a time limit. */
export const nobodyWaits = (): Pick<EvaluationContext, "deadline" | "signal"> => ({
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
});

/** A list of a case; empty when it is missing. */
export function listOf(object: unknown, key: string): readonly unknown[] {
  const list = member(object, key);
  return Array.isArray(list) ? list : [];
}

/** An answer, or the reason why its case is unusable. */
export function orUnusable<T>(decide: () => T): T | { readonly error: string; readonly allowed: false } {
  try {
    return decide();
  } catch (error) {
    if (error instanceof CaseError) return { error: error.message, allowed: false };
    throw error;
  }
}

/** The kinds of a case's policies and bindings, and their types. */
interface CaseKinds {
  readonly policy: string;
  readonly binding: string;
  readonly types: ReadonlyMap<string, ApiTypes>;
}

/**
 * The policies of a case that are bound, in the order of their names: with the API server's defaults, unless the case is `raw`.
 * @param prepare makes a policy of its document and its bindings; undefined: it is asked about nothing
 * @throws CaseError
 */
export function boundPolicies<
  P extends Resource<CommonPolicySpec>,
  B extends Resource<CommonBindingSpec>,
  Prepared extends { readonly name: string },
>(
  written: JsonObject,
  kinds: CaseKinds,
  prepare: (policy: P, bindings: readonly B[], name: string) => Prepared | undefined,
): readonly Prepared[] {
  const raw = written.raw === true;
  const bindings = listOf(written, "bindings").map((each) => {
    const binding = readResource(each, "binding", kinds) as unknown as B;
    return raw ? binding : defaultBinding(binding);
  });
  const policies = listOf(written, "policies").flatMap((each) => {
    const policy = readResource(each, "policy", kinds) as unknown as P;
    const { name = "" } = policy.metadata;
    const own = bindings.filter(({ spec }) => spec.policyName === name);
    const prepared = prepare(raw ? policy : defaultPolicy(policy), own, name);
    return prepared === undefined || own.length === 0 ? [] : [prepared];
  });
  return policies.sort((a, b) => compareNames(a.name, b.name));
}

/** Reads a policy or a binding like the API server's own client. */
function readResource(document: unknown, what: "policy" | "binding", { types, [what]: kind }: CaseKinds): JsonObject {
  const own = types.get("v1");
  if (own === undefined) throw new Error("the types of v1 are missing");
  const decoded = decodeLeniently(document, own[what]);
  if (!decoded.ok) throw new CaseError(`${what}: ${decoded.failure.text}`);
  const { value } = decoded;
  if (!isObject(value) || value.kind !== kind || text(member(value, "metadata"), "name") === "") {
    throw new CaseError(`${what}: kind and metadata.name are required`);
  }
  return { apiVersion: "", spec: {}, ...value };
}

/** Namespaces, parameters and kinds for policies. */
export function resources(written: JsonObject): FileResources {
  const documents = [...listOf(written, "namespaces").map(asNamespace), ...listOf(written, "params")];
  const kinds = listOf(written, "restMappings").map((mapping): [string, boolean] => {
    const { group, version, kind } = kindOf(mapping);
    return [`${apiVersionOf({ group, version })}/${kind}`, member(mapping, "namespaced") === true];
  });
  const source = new FileResources(documents.filter(isObject), {
    kinds: new Map(kinds),
    equivalentSets: listOf(written, "equivalents").map((set) => ({
      resources: listOf(set, "resources").map((each) => ({
        resource: resourceOf(each),
        subresource: text(each, "subresource"),
        kind: member(each, "kind") === undefined ? undefined : kindOf(member(each, "kind")),
      })),
      ...(text(set, "conversionError") !== "" && { conversionError: text(set, "conversionError") }),
    })),
  });
  return source;
}

/** An item of a list of Namespaces as a Namespace, whatever its own kind. */
const asNamespace = (document: unknown): unknown =>
  isObject(document) ? { ...document, apiVersion: "v1", kind: "Namespace" } : document;

/** A group, version and kind. */
export const kindOf = (value: unknown): GroupVersionKind => ({
  group: text(value, "group"),
  version: text(value, "version"),
  kind: text(value, "kind"),
});

const resourceOf = (value: unknown): GroupVersionResource => ({
  group: text(value, "group"),
  version: text(value, "version"),
  resource: text(value, "resource"),
});

/**
 * The request for policies.
 * @throws CaseError
 */
export function readRequest(request: unknown): RequestAttributes {
  if (!isObject(request) || !isObject(request.kind) || !isObject(request.resource) || !text(request, "operation")) {
    throw new CaseError("request: kind, resource and operation are required");
  }
  const optional = (key: string): Record<string, string> =>
    text(request, key) === "" ? {} : { [key]: text(request, key) };
  const kind = kindOf(request.kind);
  const requestKind = isObject(request.requestKind) ? kindOf(request.requestKind) : undefined;
  // Inside the API server objects have the requested version.
  const subResource = text(request, "requestSubResource") || text(request, "subResource");
  return attributesOf({
    uid: text(request, "uid"),
    kind: requestKind ?? kind,
    resource: resourceOf(isObject(request.requestResource) ? request.requestResource : request.resource),
    ...(subResource !== "" && { subResource }),
    ...optional("name"),
    ...optional("namespace"),
    operation: text(request, "operation"),
    userInfo: isObject(request.userInfo) ? request.userInfo : {},
    object: asRequested(request.object, kind, requestKind),
    oldObject: asRequested(request.oldObject, kind, requestKind),
    dryRun: request.dryRun === true,
    options: request.options ?? null,
  });
}

/** Converts an object back to the requested kind: a review of another kind contains the converted object. */
function asRequested(object: unknown, kind: GroupVersionKind, requested: GroupVersionKind | undefined): unknown {
  const same =
    requested === undefined || (apiVersionOf(requested) === apiVersionOf(kind) && requested.kind === kind.kind);
  if (same || !isObject(object)) return object ?? null;
  return { ...object, apiVersion: apiVersionOf(requested), kind: requested.kind };
}
