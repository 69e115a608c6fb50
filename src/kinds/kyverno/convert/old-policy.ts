/** The parts of ClusterPolicy and Policy (kyverno.io/v1, v2beta1) that are read, as they are written: nothing is checked yet. */
import type { JsonObject } from "../../../kubernetes/object.js";

/** The API group of the old language. */
export const OLD_GROUP = "kyverno.io";

/** `Enforce` denies, `Audit` only reports. */
export type FailureAction = "Audit" | "Enforce";

/** One rule with its policy. */
export interface OldRule {
  /** The whole document. */
  readonly policy: JsonObject;
  /** `spec.rules[index]`. */
  readonly rule: JsonObject;
  readonly index: number;
  readonly name: string;
}
