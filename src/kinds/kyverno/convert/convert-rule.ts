/** Converts one rule: match, context, preconditions and what it validates or changes become one policy. */
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import { celRule, checkCompiles } from "./cel-rule.js";
import { conditionsHold, denyRule } from "./conditions/conditions.js";
import { foreachRule } from "./conditions/foreach-rule.js";
import { withContext } from "./context/context.js";
import type { ConvertedDocument, Reason } from "./conversion.js";
import { matchOf } from "./match/match.js";
import { mutateRule } from "./mutate/mutate-rule.js";
import { NotConverted, placed } from "./not-converted.js";
import type { OldRule } from "./old-policy.js";
import { patternRule } from "./pattern/pattern-rule.js";
import { shapeOfRules } from "./pattern/shape.js";
import { podSecurityRule } from "./pod-security/pod-security-rule.js";
import { documentsOf } from "./policy-document.js";
import { RuleDraft } from "./rule-draft.js";
import type { RuleWriter, Scope } from "./scope.js";

/** The checks of a rule, by their keys in `validate`. */
const WRITERS: ReadonlyMap<string, RuleWriter> = new Map([
  ["pattern", patternRule],
  ["anyPattern", patternRule],
  ["deny", denyRule],
  ["foreach", foreachRule],
  ["podSecurity", podSecurityRule],
]);

/** Keys that are not converted, with what to write instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  verifyImages:
    "signatures of images are not converted: write an ImageValidatingPolicy, or verify with a group's module",
  generate: "a rule that generates objects is not converted: write a GeneratingPolicy for Kyverno",
};

/** The same of `validate`. */
const CHECK_INSTEAD: Readonly<Record<string, string>> = {
  assert: "assertions are not converted: write what they check as validations of a ValidatingPolicy",
  manifests:
    "signatures of manifests are not converted: verify them where they are deployed from, or with a group's module",
};

/**
 * Converts a rule.
 * @param name of the new policy
 * @throws NotConverted with a place below the rule
 */
export function convertRule(
  old: OldRule,
  name: string,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  const { rule } = old;
  for (const [key, message] of Object.entries(INSTEAD))
    if (Object.hasOwn(rule, key)) throw new NotConverted([key], message);
  const validate = member(rule, "validate");
  const cel = member(validate, "cel");
  // CEL rules stay as they are, and the new kind's autogen makes their variants.
  const draft = new RuleDraft();
  const matched = placed([], () => matchOf(old, draft, cel !== undefined));
  const namespace = text(member(old.policy, "metadata"), "namespace");
  const shape = shapeOfRules(matched.matchConstraints.resourceRules ?? []);
  const inner: Scope = {
    shape,
    roots: matched.roots,
    names: new Map(),
    draft,
    inline: false,
    rule: old.name,
    depth: 0,
    ...(text(old.policy, "kind") === "Policy" && { namespace }),
  };
  const outer: Scope = { ...inner, roots: matched.inlineRoots, inline: true };
  for (const condition of matched.conditions) draft.condition(condition.name, condition.cel, condition.from);
  const entries = member(rule, "context");
  const [scope, conditionScope] = [withContext(entries, inner), withContext(entries, outer)];
  const preconditions = member(rule, "preconditions");
  if (preconditions !== undefined && preconditions !== null)
    draft.condition(
      "preconditions",
      placed(["preconditions"], () => conditionsHold(preconditions, conditionScope)),
      ["preconditions"],
    );
  if (isObject(member(rule, "mutate"))) return mutateRule(old, name, matched, scope);
  if (!isObject(validate)) throw new NotConverted([], "a rule needs validate or mutate");
  if (cel !== undefined) celRule(cel, validate, draft, matched, old);
  else writeChecks(validate, scope);
  const made = documentsOf(old, name, matched, draft);
  if (cel !== undefined && old.circumstances.compiles === true) checkCompiles(made.documents, old);
  return made;
}

function writeChecks(validate: JsonObject, scope: Scope): void {
  const keys = Object.keys(validate).filter((key) => WRITERS.has(key));
  const [key, ...others] = keys;
  const writer = key === undefined ? undefined : WRITERS.get(key);
  for (const [left, instead] of Object.entries(CHECK_INSTEAD))
    if (Object.hasOwn(validate, left)) throw new NotConverted(["validate", left], instead);
  if (key === undefined || writer === undefined || others.length > 0)
    throw new NotConverted(["validate"], "one of pattern, anyPattern, deny, foreach, podSecurity and cel is converted");
  const message = member(validate, "message");
  placed(["validate", key], () => {
    writer(validate[key], typeof message === "string" ? message : "", scope, ["validate", key]);
  });
}
