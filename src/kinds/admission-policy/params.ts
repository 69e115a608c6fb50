/** The parameters of one evaluation (spec validating-admission-policy.md 4). */
import { Waiting } from "../../cel/index.js";
import { isBuiltin } from "../../kubernetes/builtin-kinds.js";
import { type JsonObject, labelsOf } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { PreparedParamKind, PreparedParamRef } from "./prepared-binding.js";

/** No parameter: the policy has none, or the binding names none. */
export const NO_PARAM = null;

/** The parameters to evaluate with, in order (one evaluation each); or why there are none. */
export type Params = readonly (JsonObject | typeof NO_PARAM)[] | LookupFailure | Waiting;

const WITHOUT: Params = [NO_PARAM];

/** Whether parameters of the kind live in namespaces; or why that is not known. */
export function paramScope(
  paramKind: PreparedParamKind | undefined,
  world: RequestWorld,
): boolean | LookupFailure | Waiting {
  if (paramKind === undefined) return false;
  const { group, version, kind } = paramKind.kind;
  const unknown = `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`;
  return world.namespaced(paramKind.kind) ?? new LookupFailure(unknown);
}

/** Finds a binding's parameters. `namespaced` is the scope of the paramKind. */
export function collectParams(
  paramKind: PreparedParamKind | undefined,
  paramRef: PreparedParamRef | undefined,
  requestNamespace: string,
  namespaced: boolean,
  world: RequestWorld,
): Params {
  if (paramKind === undefined || paramRef === undefined) return WITHOUT;
  let namespace = "";
  if (namespaced) {
    namespace = paramRef.namespace || requestNamespace;
    if (namespace === "") {
      return new LookupFailure(
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
      );
    }
  } else if (paramRef.namespace !== "") {
    return new LookupFailure("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const found = find(paramKind, paramRef, namespace, world);
  if (Array.isArray(found) && found.length === 0 && paramRef.denyIfMissing) {
    return new LookupFailure("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return found;
}

function find(
  { kind }: PreparedParamKind,
  { name, selector }: PreparedParamRef,
  namespace: string,
  world: RequestWorld,
): Params {
  if (name !== "") {
    if (selector !== undefined) return new LookupFailure("paramRef.name and paramRef.selector are mutually exclusive");
    const object = world.get(kind, namespace, name);
    if (object instanceof Waiting || object instanceof LookupFailure) return object;
    return object === undefined ? [] : [object];
  }
  if (selector === undefined) return new LookupFailure("one of name or selector must be provided");
  if (selector.error !== undefined) return new LookupFailure(selector.error);
  const objects = world.list(kind, namespace) ?? [];
  if (objects instanceof Waiting || objects instanceof LookupFailure) return objects;
  return objects.filter((object) => selector.empty || selector.matches(labelsOf(object)));
}

/** The parameter as expressions of validating policies see it: with apiVersion and kind, which a cluster's caches omit. */
export function paramValue(
  object: JsonObject | typeof NO_PARAM,
  { kind, apiVersion }: PreparedParamKind,
): JsonObject | null {
  if (object === NO_PARAM || "apiVersion" in object || "kind" in object) return object;
  return { apiVersion, kind: kind.kind, ...object };
}

/** The parameter as expressions of mutating policies see it: the API server holds those of built-in kinds without apiVersion and kind. */
export function mutationParamValue(
  object: JsonObject | typeof NO_PARAM,
  paramKind: PreparedParamKind,
): JsonObject | null {
  if (object === NO_PARAM || !isBuiltin(paramKind.kind)) return paramValue(object, paramKind);
  const { apiVersion: _, kind: __, ...rest } = object;
  return rest;
}
