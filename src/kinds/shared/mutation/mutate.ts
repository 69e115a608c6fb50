/** Applies a mutation to an object (spec mutating-admission-policy.md 6 and 7). */
import { setKey } from "../../../data/plain-object.js";
import { asStruct, asStructStrictly, structOf, structOfObject } from "../../../kubernetes/go-types/as-struct.js";
import { applyJsonPatch, type PatchOutcome } from "../../../kubernetes/json-patch/apply.js";
import type { PatchOperation } from "../../../kubernetes/json-patch/operation.js";
import { apiVersionOf, compareNames, type GroupVersionKind } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../../kubernetes/object.js";
import type { PatchMemory } from "../../../kubernetes/patch-memory.js";
import { applyConfiguration } from "../../../kubernetes/structured-merge/apply-configuration.js";
import type { VersionSchemas } from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { Failure } from "../../../policy/outcome.js";
import type { Mutation } from "./evaluate-mutation.js";
import { printedKind } from "./merge-types.js";

/** The failure that ends a request at once, whatever the failurePolicy: the API server answers a status of its own. */
export function internalError(cause: string): Failure {
  return {
    verdict: "error",
    message: `Internal error occurred: ${cause}`,
    code: 500,
    reason: "InternalError",
    cause: "internal",
    causes: [{ reason: null, message: cause, field: null }],
  };
}

/** A panic in the server's handling of the request: it answers 500 with Go's text. */
export interface Panic extends Failure {
  readonly panic: string;
}

export const panicked = (text: string): Panic => ({ ...internalError(text), panic: text });

/** The changed object (the same where nothing changed); why it failed; or what ends the request. */
export type Patched = { readonly object: JsonObject } | { readonly failure: string } | Failure;

/** The form in which an object is patched. */
export interface Target {
  readonly kind: GroupVersionKind;
  /** Whether it is kept as Go's struct of its kind, which makes members that the struct cannot hold an error. */
  readonly typed: boolean;
  /** Whether apply configurations may write what is replaced as a whole; default no. */
  readonly replaces?: boolean;
}

/** The result of a mutation before it is decoded into the struct of its kind. */
export type Applied =
  | PatchOutcome
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "merged"; readonly object: JsonObject };

/**
 * Applies a mutation. The object is not changed.
 * @param memory the kept parts of the object
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
      const applied = applyConfiguration(types, object, mutation.configuration, memory, target.replaces);
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

/** The changed object: a step of its own, since each takes its time for large objects. */
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

/** The object with its apiVersion and kind: a struct knows its kind, so a patch cannot remove them. */
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

/** The result of a JSON Patch, decoded into the struct of its kind. */
function decoded(object: JsonObject, memory: PatchMemory | undefined): Patched {
  const type = structOfObject(object);
  if (type === undefined) {
    return internalError(`no kind "${text(object, "kind")}" is registered for version "${text(object, "apiVersion")}"`);
  }
  const shaped = asStructStrictly(object, type, memory);
  if (shaped.ok) return { object: shaped.object };
  // The error is the first one in the text, which has its members in the order of their names.
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

/** The result of an ApplyConfiguration, converted to the struct of its kind. */
function converted(object: JsonObject, kind: GroupVersionKind, memory: PatchMemory | undefined): Patched {
  const type = structOf(apiVersionOf(kind), kind.kind);
  const shaped = type && asStruct(object, type, "converter", memory);
  if (shaped === undefined) return { object };
  if (shaped.ok) return { object: shaped.object };
  return { failure: `unable to convert unstructured object to ${printedKind(kind)}: ${shaped.error}` };
}
