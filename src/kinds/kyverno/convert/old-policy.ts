/** The parts of ClusterPolicy and Policy (kyverno.io/v1, v2beta1) that are read, as they are written: nothing is checked yet. */
import type { JsonObject } from "../../../kubernetes/object.js";

/** The API group of the old language. */
export const OLD_GROUP = "kyverno.io";

/** `Enforce` denies, `Audit` only reports. */
export type FailureAction = "Audit" | "Enforce";

/** A kind that a CustomResourceDefinition defines. */
export interface Definition {
  readonly group: string;
  readonly kind: string;
  /** The resource of the kind. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The target of a conversion, and facts that the policy does not say. */
export interface Circumstances {
  /** Kinds that are not built in. */
  readonly definitions?: readonly Definition[];
  /** Whether the policy becomes a ValidatingAdmissionPolicy, in which absent objects are null and parameters have a counterpart. */
  readonly toAdmissionPolicy?: boolean;
  /** Whether expressions of `validate.cel` are compiled: not needed where the document is compiled next. */
  readonly compiles?: boolean;
}

/** One rule with its policy. */
export interface OldRule {
  /** The whole document. */
  readonly policy: JsonObject;
  /** `spec.rules[index]`. */
  readonly rule: JsonObject;
  readonly index: number;
  readonly name: string;
  readonly circumstances: Circumstances;
}
