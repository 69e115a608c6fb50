/** What becomes of an object by one mutation (spec mutating-admission-policy.md 6 and 7). */
import { setKey } from "../../data/plain-object.js";
import { asStruct, asStructStrictly, structOf, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { applyJsonPatch, type PatchOutcome } from "../../kubernetes/json-patch/apply.js";
import type { PatchOperation } from "../../kubernetes/json-patch/operation.js";
import { apiVersionOf, compareNames, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import type { PatchMemory } from "../../kubernetes/patch-memory.js";
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

/** What a mutation comes to before it is read into the struct of its kind. */
export type Applied =
  | PatchOutcome
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "merged"; readonly object: JsonObject };

/**
 * Applies what a mutation asks for. The object is not changed.
 * @param memory of the parts of the object
 */
export function apply(
  mutation: Mutation,
  object: JsonObject,
  types: VersionSchemas,
  target: Target,
  memory?: PatchMemory,
): Applied {
  switch (mutation.kind) {
    case "error":
      return { kind: "failed", message: mutation.message };
    case "apply-configuration": {
      const applied = applyConfiguration(types, object, mutation.configuration, memory);
      return "object" in applied
        ? { kind: "merged", object: applied.object }
        : { kind: "failed", message: applied.failure };
    }
    case "json-patch":
      return target.typed
        ? withIdentity(object, mutation.operations, target.kind, memory)
        : applyJsonPatch(object, mutation.operations, memory);
  }
}

/** What becomes of the object: a step of its own, since large objects take their time in each. */
export function patchedBy(applied: Applied, object: JsonObject, target: Target, memory?: PatchMemory): Patched {
  switch (applied.kind) {
    case "merged":
      return target.typed ? converted(applied.object, target.kind, memory) : { object: applied.object };
    case "patched":
      return target.typed ? decoded(applied.object, memory) : { object: applied.object };
    case "unchanged":
      return { object };
    case "failed":
    case "error":
      return { failure: applied.message };
    case "internal":
      return internalError(applied.message);
    case "panic":
      return panicked(applied.message);
  }
}

/** A struct knows of what kind it is: what a patch removes of that is put back. */
function withIdentity(
  object: JsonObject,
  operations: readonly PatchOperation[],
  kind: GroupVersionKind,
  memory: PatchMemory | undefined,
): PatchOutcome {
  const outcome = applyJsonPatch(object, operations, memory);
  if (outcome.kind !== "internal" || !outcome.withoutKind) return outcome;
  return applyJsonPatch(object, [...operations, { op: "add", path: "/kind", from: "", value: kind.kind }], memory);
}

/** What a JSON Patch made, read into the struct of its kind. */
function decoded(object: JsonObject, memory: PatchMemory | undefined): Patched {
  const type = structOfObject(object);
  if (type === undefined) {
    return internalError(`no kind "${text(object, "kind")}" is registered for version "${text(object, "apiVersion")}"`);
  }
  const shaped = asStructStrictly(object, type, memory);
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
function converted(object: JsonObject, kind: GroupVersionKind, memory: PatchMemory | undefined): Patched {
  const type = structOf(apiVersionOf(kind), kind.kind);
  const shaped = type && asStruct(object, type, "converter", memory);
  if (shaped === undefined) return { object };
  if (shaped.ok) return { object: shaped.object };
  return { failure: `unable to convert unstructured object to ${printedKind(kind)}: ${shaped.error}` };
}
