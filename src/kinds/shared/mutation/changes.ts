/** The changes of an object as the outcome of a policy: a JSON Patch with the changed object. */
import { stringifyJson } from "../../../data/json.js";
import { diff, type PatchOperation, PatchTooLong } from "../../../data/json-patch.js";
import type { Failure, Outcome } from "../../../policy/outcome.js";

/**
 * Most characters of the steps of an answer, without the values in them: an object of 3 MiB that is changed everywhere needs as much, and more
 * would delay the requests of others while it is written.
 */
const PATCH_ROOM = 8 * 1024 * 1024;

const TOO_LONG: Failure = {
  verdict: "error",
  message: "the patch that makes the object what the policies want is too long",
  cause: "mutation",
};

/** The steps from the request's object to the changed one; `undefined` when they would be too long. Those of large objects take their time. */
export type Changes = readonly PatchOperation[] | undefined;

/** The changes between two objects. */
export function changesBetween(before: unknown, after: unknown): Changes {
  try {
    return diff(before, after, PATCH_ROOM);
  } catch (error) {
    if (error instanceof PatchTooLong) return undefined;
    throw error;
  }
}

/** The outcome of changes; `object` is the changed one. */
export function changedOutcome(changes: Changes, object: unknown): Outcome {
  if (changes === undefined) return TOO_LONG;
  if (changes.length === 0) return { verdict: "allow" };
  const patch = Buffer.from(stringifyJson(changes)).toString("base64");
  return { verdict: "allow", mutation: { kind: "patch", patch, changed: { object } } };
}
