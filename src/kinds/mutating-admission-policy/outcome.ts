/** A decision as the Outcome of one policy: a JSON Patch, or the words of a webhook's answer (spec mutating-admission-policy.md 8). */
import { stringifyJson } from "../../data/json.js";
import { diff, PatchTooLong } from "../../data/json-patch.js";
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

/** Puts a decision into words. `before` is the object of the request. */
export function outcomeOf(decision: MutatingDecision, before: unknown): Outcome {
  const { detail } = decision;
  const outcome = answerOf(decision, before);
  return detail === undefined ? outcome : { ...outcome, detail };
}

function answerOf(decision: MutatingDecision, before: unknown): Outcome {
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
  const patch = patchBetween(before, object);
  if (patch === undefined) return TOO_LONG;
  return patch === ""
    ? { verdict: "allow" }
    : { verdict: "allow", mutation: { kind: "patch", patch, changed: { object } } };
}

/** The JSON Patch in base64; `""` when nothing differs, `undefined` when it would be too long. */
function patchBetween(before: unknown, after: unknown): string | undefined {
  try {
    const steps = diff(before, after, PATCH_ROOM);
    return steps.length === 0 ? "" : Buffer.from(stringifyJson(steps)).toString("base64");
  } catch (error) {
    if (error instanceof PatchTooLong) return undefined;
    throw error;
  }
}
