import { readSettingsVerdict, settingsRefused } from "../../answer.js";
import { reviewPayload } from "../../call-protocol.js";
import { causeOf, detail, fail, type Unanswered } from "../../failures.js";
import { type Protocol, validateOperation } from "../../guest-protocol.js";
import { readOutcome } from "../../outcome-text.js";

/** WASI commands, spec kubewarden.md 6.4. */
export const wasi: Protocol = {
  loadCall: (settings) => ({ operation: "validate-settings", input: settings.bytes }),

  loadProblem: (result) =>
    settingsRefused(
      () =>
        result.kind === "answer" ? readSettingsVerdict(result.text) : messageOf(result) || messageOfNothing(result),
      "Cannot deserialize settings validation response: ",
    ),

  validateCall: (review, settings, _data, allocate) => ({
    operation: validateOperation(review),
    input: reviewPayload(review, settings, allocate),
  }),

  outcome: (result) => (result.kind === "answer" ? readOutcome(result.text) : fail(causeOf(result), messageOf(result))),
};

/** Replaces an empty message at load, so that the reason is not empty. */
function messageOfNothing(result: Unanswered): string {
  return result.kind === "timeout"
    ? detail(result)
    : "the module ended with an error and wrote nothing to standard error";
}

/** The message of a failed command: its standard error, even when empty (spec kubewarden.md 3.6). */
function messageOf(result: Unanswered): string {
  switch (result.kind) {
    case "guest-error":
      return result.text;
    case "timeout":
      return result.phase === "waiting" ? detail(result) : result.stderr.trim();
    default:
      return `internal server error: ${detail(result)}`;
  }
}
