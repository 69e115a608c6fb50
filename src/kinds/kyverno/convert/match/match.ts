/** `match` and `exclude`: resource rules, and match conditions for what they can't say. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import type { MatchResources } from "../../../shared/match/match-resources.js";
import type { Cel } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import type { RuleDraft } from "../rule-draft.js";
import type { Roots } from "../scope.js";

/** What a rule is asked about. */
export interface Matched {
  readonly matchConstraints: MatchResources;
  /** In order, before the preconditions. */
  readonly conditions: readonly { readonly name: string; readonly cel: Cel; readonly from: FieldPath }[];
  /** The roots of expressions; with `pod` where the rule is about Pods and judges their controllers. */
  readonly roots: Roots;
  /** The same without variables of the policy. */
  readonly inlineRoots: Roots;
}

/**
 * What a rule matches.
 * @param isCel whether the new kind's own autogen makes variants for controllers, so that none is written here
 */
export function matchOf(_old: OldRule, _draft: RuleDraft, _isCel: boolean): Matched {
  throw new NotConverted(["match"], "to be written");
}
