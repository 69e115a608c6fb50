/** A draft as a document: names, annotations, actions. */
import type { ConvertedDocument, Reason } from "./convert-policy.js";
import type { Matched } from "./match/match.js";
import { NotConverted } from "./not-converted.js";
import type { OldRule } from "./old-policy.js";
import type { RuleDraft } from "./rule-draft.js";

/** The annotations by which a converted policy tells where it comes from: `ClusterPolicy/NAME` or `Policy/NAMESPACE/NAME`, and the rule. */
export const CONVERTED_FROM = "policy-server/converted-from";
export const CONVERTED_RULE = "policy-server/converted-rule";

/** The documents of a rule that validates: several where its action differs by namespace. */
export function documentsOf(
  _old: OldRule,
  _name: string,
  _matched: Matched,
  _draft: RuleDraft,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  throw new NotConverted([], "to be written");
}
