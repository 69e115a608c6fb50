/** Outcomes on their way from a guest's thread to the main thread, as JSON text. */
import { parseJson, stringifyJson } from "../data/json.js";
import type { Outcome } from "../policy/outcome.js";
import { FINDINGS_CHARACTERS } from "./limits.js";
import type { GuestResult, RunResult } from "./run/guest/call.js";
import { GuestLimitError } from "./run/guest/guest.js";

/**
 * Prints an outcome.
 * @throws GuestLimitError when it is larger than the main thread should parse
 */
export function printOutcome(outcome: Outcome): string {
  const { mutation, status } = outcome as { mutation?: { readonly patch?: string }; status?: unknown };
  // Only a status that a policy returned as a whole has arbitrary numbers.
  const text = stringifyJson(outcome, status === undefined);
  if (text.length - (mutation?.patch?.length ?? 0) <= FINDINGS_CHARACTERS) return text;
  throw new GuestLimitError(
    `the policy's message, warnings and annotations are longer than ${FINDINGS_CHARACTERS} characters`,
  );
}

/** A result in the form for another thread. */
export function printResult(result: RunResult): GuestResult {
  if (result.kind !== "outcome") return result;
  try {
    return { kind: "answer", text: printOutcome(result.outcome) };
  } catch (error) {
    if (error instanceof GuestLimitError) return { kind: "limit", text: error.message };
    throw error;
  }
}

/** Parses a text of {@link printOutcome}. */
export function readOutcome(text: string): Outcome {
  return parseJson(text) as Outcome;
}
