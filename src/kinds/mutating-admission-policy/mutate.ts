/** What becomes of an object by one mutation (spec mutating-admission-policy.md 6 and 7). */
import { setKey } from "../../data/plain-object.js";
import { asStruct, asStructStrictly, structOf, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { applyJsonPatch, type PatchOutcome } from "../../kubernetes/json-patch/apply.js";
import type { PatchOperation } from "../../kubernetes/json-patch/operation.js";
import { apiVersionOf, compareNames, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { applyConfiguration } from "../../kubernetes/structured-merge/apply-configuration.js";
import type { VersionSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import type { Failure } from "../../policy/outcome.js";
import { internalError, panicked } from "./decision.js";
import type { Mutation } from "./evaluate-mutation.js";
import { printedKind } from "./merge-types.js";

/** The object after it (the same where it changed nothing); why it failed; or what ends the request. */
export type Patched = { readonly object: JsonObject } | { readonly failure: string } | Failure;

/** As what an object is patched. */
export interface Target {
  readonly kind: GroupVersionKind;
  /** It is kept as Go's struct of its kind keeps it, and what that cannot hold is an error. */
  readonly typed: boolean;
}

/** Applies what a mutation asks for. The object is not changed. */
export function mutate(mutation: Mutation, object: JsonObject, types: VersionSchemas, target: Target): Patched {
  switch (mutation.kind) {
    case "error":
      return { failure: mutation.message };
    case "apply-configuration": {
      const applied = applyConfiguration(types, object, mutation.configuration);
      return target.typed && "object" in applied ? converted(applied.object, target.kind) : applied;
    }
    case "json-patch":
      return jsonPatched(object, mutation.operations, target);
  }
}

function jsonPatched(object: JsonObject, operations: readonly PatchOperation[], target: Target): Patched {
  const outcome = target.typed ? withIdentity(object, operations, target.kind) : applyJsonPatch(object, operations);
  switch (outcome.kind) {
    case "patched":
      return target.typed ? decoded(outcome.object) : { object: outcome.object };
    case "unchanged":
      return { object };
    case "error":
      return { failure: outcome.message };
    case "internal":
      return internalError(outcome.message);
    case "panic":
      return panicked(outcome.message);
  }
}

/** A struct knows of what kind it is: what a patch removes of that is put back. */
function withIdentity(object: JsonObject, operations: readonly PatchOperation[], kind: GroupVersionKind): PatchOutcome {
  const outcome = applyJsonPatch(object, operations);
  if (outcome.kind !== "internal" || !outcome.message.startsWith("Object 'Kind' is missing")) return outcome;
  return applyJsonPatch(object, [...operations, { op: "add", path: "/kind", from: "", value: kind.kind }]);
}

/** What a JSON Patch made, read into the struct of its kind. */
function decoded(object: JsonObject): Patched {
  const type = structOfObject(object);
  if (type === undefined) {
    return internalError(`no kind "${text(object, "kind")}" is registered for version "${text(object, "apiVersion")}"`);
  }
  const shaped = asStructStrictly(object, type);
  if (shaped.ok) return { object: shaped.object };
  // What is said is what is found first in the text, which has its members in the order of their names.
  const again = asStructStrictly(inOrder(object) as JsonObject, type);
  return internalError(again.ok ? shaped.error : again.error);
}

/** A value with the members of its objects in the order of their names. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort(compareNames)) setKey(result, name, inOrder(value[name]));
  return result;
}

/** What an ApplyConfiguration made, converted to the struct of its kind. */
function converted(object: JsonObject, kind: GroupVersionKind): Patched {
  const type = structOf(apiVersionOf(kind), kind.kind);
  const shaped = type && asStruct(object, type, "converter");
  if (shaped === undefined) return { object };
  if (shaped.ok) return { object: shaped.object };
  return { failure: `unable to convert unstructured object to ${printedKind(kind)}: ${shaped.error}` };
}
