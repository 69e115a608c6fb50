/** The results of converting policies. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import type { FailureAction } from "./old-policy.js";

/** Something about a place in the old policy. */
export interface Reason {
  readonly path: FieldPath;
  readonly message: string;
}

/** A new policy. */
export interface ConvertedDocument {
  /** A ValidatingPolicy, NamespacedValidatingPolicy, MutatingPolicy or NamespacedMutatingPolicy. */
  readonly value: JsonObject;
  /** Places in the old policy by those in the new one, such as `spec.validations[0]`. */
  readonly places: ReadonlyMap<string, FieldPath>;
}

/** The result for one rule. */
export interface ConvertedRule {
  readonly rule: string;
  readonly index: number;
  /** The name of its policy, or the beginning of the names of several. */
  readonly documentName: string;
  /** The action when it fails, without overrides by namespace. */
  readonly action: FailureAction;
  /** Mostly one; none where there are reasons. */
  readonly documents: readonly ConvertedDocument[];
  /** Why it is not converted. */
  readonly reasons: readonly Reason[];
  /** Parts that are converted, but not quite as they were. */
  readonly notes: readonly Reason[];
}

/** The result for one policy. */
export interface PolicyConversion {
  readonly rules: readonly ConvertedRule[];
  /** Why the whole policy is not converted: Kyverno itself refuses it, mostly. Then there are no rules. */
  readonly reasons: readonly Reason[];
}
