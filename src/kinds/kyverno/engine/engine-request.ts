/** What policies are asked about. */
import type { AdmissionRequest } from "../../../policy/index.js";

/** A request of the API server, or one made of a file's resource (spec kyverno.md 8.3). */
export interface AdmissionInput {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /**
   * `object` and `oldObject` as expressions see them where that is not what the request holds: the command line's numbers are doubles there, and
   * integers in `request.object` (spec kyverno.md 8.4).
   */
  readonly objects?: { readonly object: unknown; readonly oldObject: unknown };
  /** A group asks about a value: match constraints are not consulted, conditions are. */
  readonly targeted?: boolean;
}

/** Any JSON (spec kyverno.md 6.1). */
export interface PayloadInput {
  readonly kind: "json";
  readonly payload: unknown;
}

/** What is looked at. */
export type EngineInput = AdmissionInput | PayloadInput;

/** Whose rules hold where the command line and the admission server differ. */
export type Flavour =
  /** Namespaced policies see their namespace only; JSON-mode policies see payloads only; expired exceptions don't count. */
  | "server"
  /** The opposite of all that (spec kyverno.md 1.7, 5.2, 6.1). */
  | "command-line";
