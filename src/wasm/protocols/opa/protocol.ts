import { stringifyJson } from "../../../data/json.js";
import { type PreparedSettings, type Protocol, validateOperation } from "../../guest-protocol.js";
import { payload, requestPieces, textPayload } from "../../payload.js";
import { regoLoadCall, regoLoadProblem, regoOutcome } from "../../rego.js";
import { byPlural } from "../../rego-data.js";

/** OPA policies: settings are data, the answer is an AdmissionResponse, spec kubewarden.md 6.5. */
export const opa: Protocol = {
  dataDocument: {
    plurals: true,
    bytes: (settings, resources) =>
      resources.length === 0 ? settings.bytes : withKubernetes(settings, byPlural(resources)),
  },
  loadCall: regoLoadCall,
  loadProblem: regoLoadProblem,
  validateCall: (review, _settings, data, allocate) => ({
    operation: validateOperation(review),
    input: payload([REQUEST, ...requestPieces(review), END], allocate),
    data,
  }),
  outcome: regoOutcome,
};

const REQUEST = Buffer.from('{"request":');
const END = Buffer.from("}");

/** The settings with the key `kubernetes`, which replaces a setting of that name. */
function withKubernetes({ value }: PreparedSettings, kubernetes: unknown): Uint8Array {
  return textPayload(stringifyJson({ ...(value as Record<string, unknown>), kubernetes }));
}
