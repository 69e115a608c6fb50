/** The parameters of one evaluation (spec validating-admission-policy.md 4). */
import { type JsonObject, labelsOf } from "../../kubernetes/object.js";
import { LookupFailure, Pending, type ResourceSource } from "../../world/resources/resource-source.js";
import type { PreparedParamKind, PreparedParamRef } from "./prepared-policy.js";

/** No parameter: the policy has none, or the binding names none. */
export const NO_PARAM = null;

/** The parameters to evaluate with, in order (one evaluation each); or why there are none to be had. */
export type Params =
  | { readonly objects: readonly (JsonObject | typeof NO_PARAM)[] }
  | { readonly error: string }
  | Pending;

const WITHOUT: Params = { objects: [NO_PARAM] };

/** Finds a binding's parameters. `namespaced` is the scope of the paramKind. */
export function collectParams(
  paramKind: PreparedParamKind | undefined,
  paramRef: PreparedParamRef | undefined,
  requestNamespace: string,
  namespaced: boolean,
  source: ResourceSource,
): Params {
  if (paramKind === undefined || paramRef === undefined) return WITHOUT;
  let namespace = "";
  if (namespaced) {
    namespace = paramRef.namespace || requestNamespace;
    if (namespace === "") {
      return { error: "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources" };
    }
  } else if (paramRef.namespace !== "") {
    return { error: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`" };
  }
  const found = find(paramKind, paramRef, namespace, source);
  if ("objects" in found && found.objects.length === 0 && paramRef.denyIfMissing) {
    return { error: "no params found for policy binding with `Deny` parameterNotFoundAction" };
  }
  return found;
}

function find(
  { kind }: PreparedParamKind,
  { name, selector }: PreparedParamRef,
  namespace: string,
  source: ResourceSource,
): Params {
  if (name !== "") {
    if (selector !== undefined) return { error: "paramRef.name and paramRef.selector are mutually exclusive" };
    const object = source.get(kind, namespace, name);
    if (object instanceof Pending) return object;
    if (object instanceof LookupFailure) return { error: object.message };
    return { objects: object === undefined ? [] : [object] };
  }
  if (selector === undefined) return { error: "one of name or selector must be provided" };
  if (selector.error !== undefined) return { error: selector.error };
  const objects = source.list(kind, namespace);
  if (objects instanceof Pending) return objects;
  if (objects instanceof LookupFailure) return { error: objects.message };
  return { objects: (objects ?? []).filter((object) => selector.empty || selector.matches(labelsOf(object))) };
}

/** The parameter as expressions see it: with apiVersion and kind, which a cluster's caches leave out. */
export function paramValue(
  object: JsonObject | typeof NO_PARAM,
  { kind, apiVersion }: PreparedParamKind,
): JsonObject | null {
  if (object === NO_PARAM || "apiVersion" in object || "kind" in object) return object;
  return { apiVersion, kind: kind.kind, ...object };
}
