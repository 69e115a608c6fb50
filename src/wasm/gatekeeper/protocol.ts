import { stringifyJson } from "../../data/json.js";
import type { Outcome } from "../../policy/outcome.js";
import { fail } from "../failures.js";
import type { Protocol } from "../guest-protocol.js";
import { regoLoadCall, regoLoadProblem, regoOutcome } from "../rego.js";
import { inventory } from "../rego-data.js";

/** Gatekeeper policies: settings are parameters, the answer is a list of violations, spec kubewarden.md 6.5. */
export const gatekeeper: Protocol = {
  dataDocument: {
    plurals: false,
    text: (_settings, resources) =>
      resources.length === 0 ? "{}" : stringifyJson({ inventory: inventory(resources) }),
  },
  loadCall: regoLoadCall,
  loadProblem: regoLoadProblem,
  validateCall(review, settings, data) {
    if (review.kind === "raw")
      return fail("protocol", "internal server error: Gatekeeper does not support raw validation requests");
    return {
      operation: "validate",
      input: `{"parameters":${settings.text},"review":${review.requestText()}}`,
      data,
    };
  },
  outcome: (result) => regoOutcome(result, "cannot interpret Gatekeeper policy result", violations),
};

/** No violation allows. A result that is no list of violations is an error: it must not pass as none. */
function violations(result: unknown): Outcome {
  if (!Array.isArray(result)) throw new Error("not a list");
  if (result.length === 0) return { verdict: "allow" };
  const messages = result.map((violation: unknown) => {
    if (typeof violation !== "object" || violation === null) throw new Error("not a violation");
    return "msg" in violation && typeof violation.msg === "string" ? violation.msg : undefined;
  });
  return { verdict: "deny", message: messages.filter((text) => text !== undefined).join(", ") };
}
