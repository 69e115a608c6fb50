import { stringifyJson } from "../../../data/json.js";
import { fail } from "../../failures.js";
import type { Protocol } from "../../guest-protocol.js";
import { payload, requestPieces, textPayload } from "../../payload.js";
import { regoLoadCall, regoLoadProblem, regoOutcome } from "../../rego.js";
import { inventory } from "../../rego-data.js";

const EMPTY = textPayload("{}");
const PARAMETERS = Buffer.from('{"parameters":');
const REVIEW = Buffer.from(',"review":');
const END = Buffer.from("}");

/** Gatekeeper policies: settings are parameters, the answer is a list of violations, spec kubewarden.md 6.5. */
export const gatekeeper: Protocol = {
  dataDocument: {
    plurals: false,
    bytes: (_settings, resources) =>
      resources.length === 0 ? EMPTY : textPayload(stringifyJson({ inventory: inventory(resources) })),
  },
  loadCall: regoLoadCall,
  loadProblem: regoLoadProblem,
  validateCall(review, settings, data, allocate) {
    if (review.kind === "raw")
      return fail("protocol", "internal server error: Gatekeeper does not support raw validation requests");
    return {
      operation: "validate",
      input: payload([PARAMETERS, settings.bytes, REVIEW, ...requestPieces(review), END], allocate),
      data,
    };
  },
  outcome: regoOutcome,
};
