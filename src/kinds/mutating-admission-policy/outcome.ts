/** A decision as the Outcome of one policy: a JSON Patch, or the words of a webhook's answer (spec mutating-admission-policy.md 8). */
import { stringifyJson } from "../../data/json.js";
import { diff, type PatchOperation, PatchTooLong } from "../../data/json-patch.js";
import type { Cause, Failure, Outcome } from "../../policy/outcome.js";
import { type MutatingDecision, refusalMessage, refusalReason } from "./decision.js";

/** The code of a refusal, whatever its reason is. */
const FORBIDDEN = 403;

/**
 * Characters that the steps of an answer may have, the values in them left out: an object of 3 MiB that is changed everywhere needs as much, and more
 * would hold up the requests of others while it is written.
 */
const PATCH_ROOM = 8 * 1024 * 1024;

const TOO_LONG: Failure = {
  verdict: "error",
  message: "the patch that makes the object what the policies want is too long",
  cause: "mutation",
};

/** The steps from the object of the request to what the policies want; `undefined` when they would be too long. Steps of large objects take their time. */
export type Changes = readonly PatchOperation[] | undefined;

/** What a decision changes. `before` is the object of the request. */
export function changesOf({ failure, refusals, skipped, object }: MutatingDecision, before: unknown): Changes {
  if (failure !== undefined || refusals.length > 0 || skipped !== undefined) return [];
  try {
    return diff(before, object, PATCH_ROOM);
  } catch (error) {
    if (error instanceof PatchTooLong) return undefined;
    throw error;
  }
}

/** Puts a decision, and what it changes, into words. */
export function outcomeOf(decision: MutatingDecision, changes: Changes): Outcome {
  const { detail } = decision;
  const outcome = answerOf(decision, changes);
  return detail === undefined ? outcome : { ...outcome, detail };
}

function answerOf(decision: MutatingDecision, changes: Changes): Outcome {
  const { failure, refusals, skipped, object } = decision;
  if (failure !== undefined) return failure;
  const [first] = refusals;
  if (first !== undefined) {
    // No policy says no: what there is are failures, and an error must not read as one.
    return {
      verdict: "error",
      message: refusalMessage(first),
      code: FORBIDDEN,
      reason: refusalReason(first),
      cause: first.kind === "configuration" ? "unavailable" : "expression",
      causes: refusals.map(
        (refusal): Cause => ({ reason: refusalReason(refusal), message: refusalMessage(refusal), field: null }),
      ),
    };
  }
  if (skipped !== undefined) return { verdict: "skip", reason: skipped };
  if (changes === undefined) return TOO_LONG;
  if (changes.length === 0) return { verdict: "allow" };
  const patch = Buffer.from(stringifyJson(changes)).toString("base64");
  return { verdict: "allow", mutation: { kind: "patch", patch, changed: { object } } };
}
