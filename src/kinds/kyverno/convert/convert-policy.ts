/** Converts a ClusterPolicy or a Policy: each of its rules becomes a policy of its own. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../../kubernetes/object.js";
import { convertRule } from "./convert-rule.js";
import { NotConverted } from "./not-converted.js";
import { type FailureAction, OLD_GROUP } from "./old-policy.js";

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
  /** What happens when it fails, without overrides by namespace. */
  readonly action: FailureAction;
  /** Mostly one; none where there are reasons. */
  readonly documents: readonly ConvertedDocument[];
  /** Why it is not converted. */
  readonly reasons: readonly Reason[];
  /** What is converted, but not quite as it was. */
  readonly notes: readonly Reason[];
}

/** The result for one policy. */
export interface PolicyConversion {
  readonly rules: readonly ConvertedRule[];
  /** Why the whole policy is not converted: Kyverno itself refuses it, mostly. Then there are no rules. */
  readonly reasons: readonly Reason[];
}

/** Whether a document is a policy of the old language. */
export const isOldPolicy = (value: unknown): value is JsonObject =>
  isObject(value) &&
  text(value, "apiVersion").startsWith(`${OLD_GROUP}/`) &&
  (text(value, "kind") === "ClusterPolicy" || text(value, "kind") === "Policy");

/** Converts a policy. Never throws. */
export function convertPolicy(policy: JsonObject): PolicyConversion {
  const rules = member(member(policy, "spec"), "rules");
  if (!Array.isArray(rules) || rules.length === 0)
    return { rules: [], reasons: [{ path: ["spec", "rules"], message: "a policy needs rules" }] };
  return {
    rules: rules.map((rule: unknown, index) => ruleOf(policy, rule, index, rules.length)),
    reasons: [],
  };
}

function ruleOf(policy: JsonObject, rule: unknown, index: number, count: number): ConvertedRule {
  const path: FieldPath = ["spec", "rules", index];
  const name = text(rule, "name");
  const common = { rule: name, index, action: actionOf(policy, rule) };
  try {
    if (!isObject(rule)) throw new NotConverted([], "a rule is a map");
    const documentName = count === 1 ? nameOf(policy) : `${nameOf(policy)}-${name}`;
    const { documents, notes } = convertRule({ policy, rule, index, name }, documentName);
    return { ...common, documents, notes, reasons: [] };
  } catch (error) {
    if (!(error instanceof NotConverted)) throw error;
    return {
      ...common,
      documents: [],
      notes: [],
      reasons: [{ path: [...path, ...error.path], message: error.message }],
    };
  }
}

function actionOf(policy: JsonObject, rule: unknown): FailureAction {
  const own = text(member(rule, "validate"), "failureAction");
  const action = own === "" ? text(member(policy, "spec"), "validationFailureAction") : own;
  return action.toLowerCase() === "enforce" ? "Enforce" : "Audit";
}
