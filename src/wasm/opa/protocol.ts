import { stringifyJson } from "../../data/json.js";
import { type PreparedSettings, type Protocol, validateOperation } from "../guest-protocol.js";
import { regoLoadCall, regoLoadProblem, regoOutcome } from "../rego.js";
import { byPlural } from "../rego-data.js";

/** OPA policies: settings are data, the answer is an AdmissionResponse, spec kubewarden.md 6.5. */
export const opa: Protocol = {
  dataDocument: {
    plurals: true,
    text: (settings, resources) =>
      resources.length === 0 ? settings.text : withKubernetes(settings, byPlural(resources)),
  },
  loadCall: regoLoadCall,
  loadProblem: regoLoadProblem,
  validateCall: (review, _settings, data) => ({
    operation: validateOperation(review),
    input: `{"request":${review.requestText()}}`,
    data,
  }),
  outcome: regoOutcome,
};

/** The settings with the key `kubernetes`, which overrides a setting of that name. */
function withKubernetes({ value }: PreparedSettings, kubernetes: unknown): string {
  return stringifyJson({ ...(value as Record<string, unknown>), kubernetes });
}
