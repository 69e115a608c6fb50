/** The effect of a policy's patch on the object. */
import { parseJson } from "../../data/json.js";
import { applyJsonPatch } from "../../kubernetes/json-patch/apply.js";
import type { PatchOperation } from "../../kubernetes/json-patch/operation.js";
import type { Outcome, Review } from "../../policy/index.js";

/** The object, or the payload, before and after a patch. */
export interface ChangedObject {
  readonly before: unknown;
  readonly after: unknown;
}

/** A member that holds the patched value: a patch may change any JSON, while the patching function takes objects. */
const HOLDER = "value";

/**
 * The changes of a policy's mutation, whether or not it is allowed.
 * @returns undefined when it changes nothing, or cannot be applied
 */
export function changedObject(review: Review, outcome: Outcome): ChangedObject | undefined {
  if (outcome.verdict !== "allow" && outcome.verdict !== "deny") return undefined;
  const { mutation } = outcome;
  const before = review.kind === "raw" ? review.payload : review.request.object;
  if (mutation === undefined || mutation.kind === "of-nothing") return undefined;
  if (mutation.kind === "object") return { before, after: mutation.object };
  if (mutation.changed !== undefined) return { before, after: mutation.changed.object };
  return patched(before, mutation.patch);
}

function patched(before: unknown, patch: string): ChangedObject | undefined {
  const operations = operationsOf(patch);
  if (operations === undefined) return undefined;
  const outcome = applyJsonPatch({ apiVersion: "v1", kind: "Holder", [HOLDER]: before ?? null }, operations);
  return outcome.kind === "patched" ? { before, after: outcome.object[HOLDER] } : undefined;
}

function operationsOf(patch: string): readonly PatchOperation[] | undefined {
  try {
    const read = parseJson(Buffer.from(patch, "base64").toString());
    return Array.isArray(read) ? read.map(operationOf) : undefined;
  } catch {
    return undefined; // a policy may have written an invalid patch
  }
}

function operationOf(written: unknown): PatchOperation {
  const { op, path, from, value } = (written ?? {}) as Readonly<Record<string, unknown>>;
  const held = (pointer: unknown): string => `/${HOLDER}${typeof pointer === "string" ? pointer : ""}`;
  return { op: String(op), path: held(path), from: from === undefined ? "" : held(from), value };
}
