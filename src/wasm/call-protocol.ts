/** The protocol of guests that are called by operation name and answer with Kubewarden's JSON: Extism and waPC (spec kubewarden.md 6.2, 6.3). */
import type { Review } from "../policy/review.js";
import { readSettingsVerdict, settingsRefused } from "./answer.js";
import { callFailure, detail } from "./failures.js";
import { type PreparedSettings, type Protocol, validateOperation } from "./guest-protocol.js";
import { START_ONLY } from "./names.js";
import { readOutcome } from "./outcome-text.js";
import { type Allocate, NOTHING, payload, requestPieces } from "./payload.js";

/** The payload of a review: `{"request":…,"settings":{…}}`, joined from bytes that were made once. */
export function reviewPayload(review: Review, settings: PreparedSettings, allocate?: Allocate): Uint8Array {
  return payload([REQUEST, ...requestPieces(review), SETTINGS, settings.bytes, END], allocate);
}

const REQUEST = Buffer.from('{"request":');
const SETTINGS = Buffer.from(',"settings":');
const END = Buffer.from("}");

/** Data with every call of a plugin that has an environment of its own. */
const beside = ({ environment }: PreparedSettings): { readonly data?: Uint8Array } =>
  environment === undefined ? {} : { data: environment };

/** @param hasSettings whether a module with these exports checks its settings */
export function callProtocol(hasSettings: (exports: ReadonlySet<string>) => boolean): Protocol {
  return {
    loadCall: (settings, exports) =>
      hasSettings(exports)
        ? { operation: "validate_settings", input: settings.bytes, ...beside(settings) }
        : { operation: START_ONLY, input: NOTHING, ...beside(settings) },

    loadProblem: (result) =>
      settingsRefused(() => {
        if (result.kind !== "answer") return `Error invoking settings validation callback: ${detail(result)}`;
        return readSettingsVerdict(result.text);
      }, "error: "),

    validateCall: (review, settings, _data, allocate) => {
      const operation = validateOperation(review);
      const input = reviewPayload(review, settings, allocate);
      return settings.environment === undefined
        ? { operation, input }
        : { operation, input, data: settings.environment };
    },

    outcome: (result) => (result.kind === "answer" ? readOutcome(result.text) : callFailure(result)),
  };
}
