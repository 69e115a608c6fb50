/** A draft as a document: names, annotations, actions. */
import { type FieldPath, formatPath } from "../../../kubernetes/field-error.js";
import { member, nameOf, text } from "../../../kubernetes/object.js";
import type { ConvertedDocument, Reason } from "./convert-policy.js";
import type { Matched } from "./match/match.js";
import type { OldRule } from "./old-policy.js";
import type { Placed, RuleDraft } from "./rule-draft.js";

/** The annotations by which a converted policy tells where it comes from: `ClusterPolicy/NAME` or `Policy/NAMESPACE/NAME`, and the rule. */
export const CONVERTED_FROM = "policy-server/converted-from";
export const CONVERTED_RULE = "policy-server/converted-rule";

/** The documents of a rule that validates: several where its action differs by namespace. */
export function documentsOf(
  { policy, rule, name: ruleName }: OldRule,
  name: string,
  { matchConstraints }: Matched,
  { variables, conditions, validations, notes }: RuleDraft,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  const places = new Map<string, FieldPath>();
  const listed = (key: string, list: readonly Placed<object>[]) =>
    list.map(({ from, ...rest }, index) => {
      places.set(formatPath(["spec", key, index]), from);
      return rest;
    });
  const action =
    text(member(rule, "validate"), "failureAction") || text(member(policy, "spec"), "validationFailureAction");
  const value = {
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: {
      name,
      annotations: { [CONVERTED_FROM]: `ClusterPolicy/${nameOf(policy)}`, [CONVERTED_RULE]: ruleName },
    },
    spec: {
      autogen: { podControllers: { controllers: [] } },
      validationActions: [action.toLowerCase() === "enforce" ? "Deny" : "Audit"],
      matchConstraints,
      matchConditions: listed("matchConditions", conditions),
      variables: listed("variables", variables),
      validations: listed("validations", validations),
    },
  };
  return { documents: [{ value, places }], notes };
}
