/** Stands for a rule that is not converted: a policy that matches what the rule matches. */
import { type JsonObject, member, nameOf, namespaceOf } from "../../../kubernetes/object.js";
import { documentName } from "./convert-policy.js";
import { matchOf } from "./match/match.js";
import { NotConverted } from "./not-converted.js";
import type { FailureAction, OldRule } from "./old-policy.js";
import { CONVERTED_FROM, CONVERTED_RULE, documentsOf } from "./policy-document.js";
import { RuleDraft } from "./rule-draft.js";

/**
 * The policies that only match. Where a part of its match is the reason, more is matched: what it excludes, too; all objects of its kinds; everything.
 * @param old the rule as it stands, of which nothing is checked
 */
export function standIns(old: OldRule, action: FailureAction): readonly JsonObject[] {
  const name = documentName(old.policy, old.name);
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

function everything({ policy, name: rule }: OldRule, name: string, action: FailureAction): JsonObject {
  const isNamespaced = policy.kind === "Policy";
  const namespace = isNamespaced ? [namespaceOf(policy)] : [];
  return {
    apiVersion: "policies.kyverno.io/v1",
    kind: isNamespaced ? "NamespacedValidatingPolicy" : "ValidatingPolicy",
    metadata: {
      name,
      ...(isNamespaced && { namespace: namespace[0] }),
      annotations: {
        [CONVERTED_FROM]: [policy.kind, ...namespace, nameOf(policy)].join("/"),
        [CONVERTED_RULE]: rule,
      },
    },
    spec: {
      validationActions: [action === "Enforce" ? "Deny" : "Audit"],
      matchConstraints: {
        resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
      },
    },
  };
}
