/** Converts a ClusterPolicy or a Policy: each of its rules becomes a policy of its own. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../../kubernetes/object.js";
import { actionOf } from "./actions.js";
import type { ConvertedRule, PolicyConversion, Reason } from "./conversion.js";
import { convertRule } from "./convert-rule.js";
import { loadErrors } from "./load-errors.js";
import { NotConverted } from "./not-converted.js";
import { type Circumstances, OLD_GROUP, type OldRule } from "./old-policy.js";

/** Whether a document is a policy of the old language. */
export const isOldPolicy = (value: unknown): value is JsonObject =>
  isObject(value) &&
  text(value, "apiVersion").startsWith(`${OLD_GROUP}/`) &&
  (text(value, "kind") === "ClusterPolicy" || text(value, "kind") === "Policy");

/** The longest policy, in characters of its rules as JSON: it is converted in less than 100 ms. */
const LONGEST_RULES = 32 * 1024;

/** Converts a policy. Never throws. */
export function convertPolicy(policy: JsonObject, circumstances: Circumstances = {}): PolicyConversion {
  const length = JSON.stringify(member(member(policy, "spec"), "rules") ?? null).length;
  const reasons =
    length <= LONGEST_RULES
      ? loadErrors(policy)
      : [
          {
            path: ["spec", "rules"],
            message: `rules of more than ${LONGEST_RULES} characters are not converted: divide the policy`,
          },
        ];
  if (reasons.length > 0) return { rules: [], reasons };
  const rules = member(member(policy, "spec"), "rules");
  const list = Array.isArray(rules) ? rules.filter(isObject) : [];
  const names = namesOf(nameOf(policy), list);
  return {
    rules: list.map((rule, index) =>
      ruleOf({ policy, rule, index, name: text(rule, "name"), circumstances }, names[index] ?? ""),
    ),
    reasons: [],
  };
}

/** The names of the new policies: the policy's own, or with the rule's, as far as names of objects allow. */
function namesOf(policy: string, rules: readonly JsonObject[]): readonly string[] {
  if (rules.length === 1) return [policy];
  const taken = new Set<string>();
  return rules.map((rule) => {
    const words = text(rule, "name")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
    const name = words === "" ? policy : `${policy}-${words}`;
    let free = name;
    for (let i = 2; taken.has(free); i++) free = `${name}-${i}`;
    taken.add(free);
    return free;
  });
}

function ruleOf(old: OldRule, documentName: string): ConvertedRule {
  const { policy, rule, index, name } = old;
  const path: FieldPath = ["spec", "rules", index];
  const common = { rule: name, index, documentName, action: actionOf(policy, rule) };
  const below = <T extends Reason>(reason: T): T => ({ ...reason, path: [...path, ...reason.path] });
  try {
    const { documents, notes } = convertRule(old, documentName);
    return { ...common, documents, notes: notes.map(below), reasons: [] };
  } catch (error) {
    if (!(error instanceof NotConverted)) throw error;
    const reasons = [below({ path: error.path, message: error.message })];
    return { ...common, documents: [], notes: [], reasons };
  }
}
