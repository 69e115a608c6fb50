/** Stands for a rule that is not converted: a policy that matches what the rule matches. */
import { type JsonObject, member } from "../../../kubernetes/object.js";
import { GROUP, NAMESPACED_POLICY_KIND, POLICY_KIND } from "../resource.js";
import { matchOf } from "./match/match.js";
import { NotConverted } from "./not-converted.js";
import type { FailureAction, OldRule } from "./old-policy.js";
import { documentsOf, metadataOf } from "./policy-document.js";
import { RuleDraft } from "./rule-draft.js";

/**
 * The policies that only match. Where a part of its match is the reason, more is matched: what it excludes, too; all objects of its kinds; everything.
 * @param old the rule as it stands, of which nothing is checked
 * @param name of the policy
 */
export function standIns(old: OldRule, name: string, action: FailureAction): readonly JsonObject[] {
  for (const match of [old.rule, { ...old.rule, exclude: undefined }, { ...old.rule, ...kindsOnly(old.rule) }]) {
    try {
      const draft = new RuleDraft();
      const rule = { ...old, rule: match };
      const matched = matchOf(rule, draft, false);
      for (const { name, cel, from } of matched.conditions) draft.condition(name, cel, from);
      return documentsOf(rule, name, matched, draft).documents.map(({ value }) => value);
    } catch (error) {
      if (!(error instanceof NotConverted)) throw error;
    }
  }
  return [everything(old, name, action)];
}

/** The rule's kinds alone. */
function kindsOnly({ match }: JsonObject): JsonObject {
  const blocks = [match, ...["any", "all"].flatMap((key) => listOf(member(match, key)))];
  const kinds = blocks.flatMap((block) => listOf(member(member(block, "resources"), "kinds")));
  return { match: { any: [{ resources: { kinds: [...new Set(kinds)] } }] }, exclude: undefined };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const everything = (old: OldRule, name: string, action: FailureAction): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: old.policy.kind === "Policy" ? NAMESPACED_POLICY_KIND : POLICY_KIND,
  metadata: metadataOf(old, name),
  spec: {
    validationActions: [action === "Enforce" ? "Deny" : "Audit"],
    matchConstraints: {
      resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
    },
  },
});
