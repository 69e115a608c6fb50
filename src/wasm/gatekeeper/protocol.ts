import { stringifyJson } from "../../data/json.js";
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
  outcome: regoOutcome,
};
