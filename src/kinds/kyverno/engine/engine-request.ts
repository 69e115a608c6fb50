/** The inputs of policies. */
import type { AdmissionRequest } from "../../../policy/index.js";

/** A request of the API server, or one made from a file's resource (spec kyverno.md 8.3). */
export interface AdmissionInput {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /**
   * `object` and `oldObject` as expressions see them where they differ from the request's: the command line's numbers are doubles there, and
   * integers in `request.object` (spec kyverno.md 8.4).
   */
  readonly objects?: { readonly object: unknown; readonly oldObject: unknown };
  /** Whether a group asks about a value: match constraints are ignored, conditions are not. */
  readonly targeted?: boolean;
}

/** Any JSON (spec kyverno.md 6.1). */
export interface PayloadInput {
  readonly kind: "json";
  readonly payload: unknown;
}

/** The input of an evaluation. */
export type EngineInput = AdmissionInput | PayloadInput;

/** The program whose rules apply where the command line and the admission server differ. */
export type Flavour =
  /** Namespaced policies see their namespace only; JSON-mode policies see payloads only. */
  | "server"
  /** The opposite of all that (spec kyverno.md 1.7, 6.1). */
  | "command-line";
