/**
 * Deciding a case that is written down whole: policies, bindings, parameters, Namespaces, authorizer and request in one JSON object. Policies
 * are taken as an evaluator takes them, without validation.
 */

import { defaultBinding, defaultPolicy } from "../../admission-policy/defaults.js";
import { decodeLeniently } from "../../cel-policy/decode/api-type.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import { attributesOf, type RequestAttributes } from "../../cel-policy/match/request-attributes.js";
import { API_TYPES } from "../../kinds/validating-admission-policy/api-types.js";
import { compilePolicy } from "../../kinds/validating-admission-policy/compiled-policy.js";
import { ValidatingPolicySet } from "../../kinds/validating-admission-policy/policy.js";
import {
  type PreparedPolicy,
  prepareBinding,
  preparePolicy,
} from "../../kinds/validating-admission-policy/prepared-policy.js";
import {
  BINDING_KIND,
  type BindingResource,
  POLICY_KIND,
  type PolicyResource,
} from "../../kinds/validating-admission-policy/resource.js";
import {
  apiVersionOf,
  compareNames,
  type GroupVersionKind,
  type GroupVersionResource,
} from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { FileResources } from "../../world/resources/file-resources.js";
import { type AuthorizerCheck, CaseAuthorizer } from "./case-authorizer.js";
import { clientWarnings } from "./client-warnings.js";
import { type NativeResult, nativeResult } from "./native-result.js";

/** The decision; or why the case is unusable. */
export type CaseResult =
  | (NativeResult & { readonly authorizerChecks?: readonly AuthorizerCheck[] })
  | { readonly error: string; readonly allowed: false };

/** A case that cannot be decided. Thrown inside this file only. */
class CaseError extends Error {}

/** A case is decided at once, however long that takes. */
const NOBODY_WAITS = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** Decides a case. */
export function decideCase(written: JsonObject, compiler: ExpressionCompiler): CaseResult {
  try {
    return decide(written, compiler);
  } catch (error) {
    if (error instanceof CaseError) return { error: error.message, allowed: false };
    throw error;
  }
}

function decide(written: JsonObject, compiler: ExpressionCompiler): CaseResult {
  const raw = written.raw === true;
  const bindings = listOf(written, "bindings").map((each) => readBinding(each, raw));
  const policies: PreparedPolicy[] = [];
  for (const each of listOf(written, "policies")) {
    const policy = readPolicy(each, raw);
    const name = policy.metadata.name ?? "";
    const own = bindings.filter(({ spec }) => spec.policyName === name).map(prepareBinding);
    const compiled = compilePolicy(policy.spec, compiler, "stored");
    const prepared = preparePolicy(policy, compiled, own, `${POLICY_KIND} '${name}'`);
    if (prepared !== undefined && own.length > 0) policies.push(prepared);
  }
  policies.sort((a, b) => compareNames(a.name, b.name));

  const authorizer = new CaseAuthorizer(written.authorizer);
  const world = { resources: resources(written), authorizer, now: () => 0 };
  const set = new ValidatingPolicySet(policies, { id: "case", dialect: compiler.dialect, world });
  const request = readRequest(written.request);
  const decision = set.decide(request, NOBODY_WAITS);
  if (decision instanceof Promise) throw new Error("what is written down is at hand");
  const result = nativeResult(decision, request);
  const { warnings } = decision;
  const reaching = clientWarnings(warnings);
  const differ = reaching.length !== warnings.length || reaching.some((warning, i) => warning !== warnings[i]);
  return {
    ...result,
    ...(differ && { clientWarnings: reaching }),
    ...(authorizer.checks.length > 0 && { authorizerChecks: authorizer.checks }),
  };
}

function listOf(object: unknown, key: string): readonly unknown[] {
  const list = member(object, key);
  return Array.isArray(list) ? list : [];
}

function readPolicy(document: unknown, raw: boolean): PolicyResource {
  const policy = read(document, POLICY_KIND) as unknown as PolicyResource;
  return raw ? policy : defaultPolicy(policy);
}

function readBinding(document: unknown, raw: boolean): BindingResource {
  const binding = read(document, BINDING_KIND) as unknown as BindingResource;
  return raw ? binding : defaultBinding(binding);
}

function read(document: unknown, kind: typeof POLICY_KIND | typeof BINDING_KIND): JsonObject {
  const types = API_TYPES.get("v1");
  if (types === undefined) throw new Error("the types of v1 are missing");
  const what = kind === POLICY_KIND ? "policy" : "binding";
  const decoded = decodeLeniently(document, types[what]);
  if (!decoded.ok) throw new CaseError(`${what}: ${decoded.failure.text}`);
  const { value } = decoded;
  if (!isObject(value) || value.kind !== kind || text(member(value, "metadata"), "name") === "") {
    throw new CaseError(`${what}: kind and metadata.name are required`);
  }
  return { apiVersion: "", spec: {}, ...value };
}

function resources(written: JsonObject): FileResources {
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

/** What a list of Namespaces holds are Namespaces, whatever they call themselves. */
const asNamespace = (document: unknown): unknown =>
  isObject(document) ? { ...document, apiVersion: "v1", kind: "Namespace" } : document;

const kindOf = (value: unknown): GroupVersionKind => ({
  group: text(value, "group"),
  version: text(value, "version"),
  kind: text(value, "kind"),
});

const resourceOf = (value: unknown): GroupVersionResource => ({
  group: text(value, "group"),
  version: text(value, "version"),
  resource: text(value, "resource"),
});

function readRequest(request: unknown): RequestAttributes {
  if (!isObject(request) || !isObject(request.kind) || !isObject(request.resource) || !text(request, "operation")) {
    throw new CaseError("request: kind, resource and operation are required");
  }
  const optional = (key: string): Record<string, string> =>
    text(request, key) === "" ? {} : { [key]: text(request, key) };
  const kind = kindOf(request.kind);
  const requestKind = isObject(request.requestKind) ? kindOf(request.requestKind) : undefined;
  // Inside the API server objects are as they were addressed.
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

/** A review whose kind is another than the one requested brings the object converted already: it is taken back to what was requested. */
function asRequested(object: unknown, kind: GroupVersionKind, requested: GroupVersionKind | undefined): unknown {
  const same =
    requested === undefined || (apiVersionOf(requested) === apiVersionOf(kind) && requested.kind === kind.kind);
  if (same || !isObject(object)) return object ?? null;
  return { ...object, apiVersion: apiVersionOf(requested), kind: requested.kind };
}
