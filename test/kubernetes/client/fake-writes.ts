/** What writes make of an object, as far as tests need it: replace, merge patch, JSON patch, server-side apply. */
import assert from "node:assert/strict";
import { applyJsonPatch } from "../../../src/kubernetes/json-patch/apply.js";
import type { PatchOperation } from "../../../src/kubernetes/json-patch/operation.js";
import { isObject, type JsonObject } from "../../../src/kubernetes/object.js";

/** RFC 7386. */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const into: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key];
    else into[key] = merged(into[key], value);
  }
  return into;
}

/** RFC 6902; `undefined` when it cannot be applied. */
export function jsonPatched(target: JsonObject, operations: readonly PatchOperation[]): unknown {
  const outcome = applyJsonPatch(target, operations);
  return outcome.kind === "patched" ? outcome.object : undefined;
}

/** Server-side apply without managers: what the configuration names is set, lists of what has a `type` or a `name` are merged by it, others are replaced. */
export function applied(target: unknown, configuration: unknown): unknown {
  if (Array.isArray(configuration)) {
    const key = ["type", "name"].find((each) => configuration.every((item) => isObject(item) && each in item));
    if (key === undefined || !Array.isArray(target)) return configuration;
    const own = configuration as JsonObject[];
    const others = (target as JsonObject[]).filter((item) => own.every((each) => each[key] !== item[key]));
    return [...others, ...own];
  }
  if (!isObject(configuration)) return configuration;
  const into: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(configuration)) into[key] = applied(into[key], value);
  return into;
}

/** What a patch of that content type makes of an object; `undefined` when it cannot be applied. */
export function patchedBy(type: string, object: JsonObject, patch: unknown): unknown {
  if (type.startsWith("application/json-patch+json")) return jsonPatched(object, patch as PatchOperation[]);
  if (type.startsWith("application/merge-patch+json")) return merged(object, patch);
  assert.equal(type, "application/apply-patch+yaml");
  return applied(object, patch);
}
