/** Actions on failures: `validationFailureAction`, `failureAction` and their overrides by namespace. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject, member, text } from "../../../kubernetes/object.js";
import type { NamedExpression } from "../resource.js";
import { and, type Cel, FALSE, not, or, primary, TRUE } from "./cel-text.js";
import { selects } from "./match/block-tests.js";
import type { Matched } from "./match/match.js";
import { matchesAny } from "./match/wildcard.js";
import type { FailureAction, OldRule } from "./old-policy.js";
import type { Placed } from "./rule-draft.js";

/** The objects whose failures have one action. */
export interface ActionPart {
  /** Of the document's name. */
  readonly suffix: string;
  readonly actions: readonly string[];
  readonly conditions: readonly Placed<NamedExpression>[];
}

/** The action without overrides. */
export function actionOf(policy: unknown, rule: unknown): FailureAction {
  const images = member(rule, "verifyImages");
  const ofImages = Array.isArray(images) ? images.map((each) => text(each, "failureAction")) : [];
  const own =
    text(member(rule, "validate"), "failureAction") ||
    (ofImages.find((each) => each.toLowerCase() === "enforce") ?? ofImages[0] ?? "");
  return read(own === "" ? text(member(policy, "spec"), "validationFailureAction") : own);
}

const read = (action: string): FailureAction => (action.toLowerCase() === "enforce" ? "Enforce" : "Audit");

/** The parts: one, or two where overrides make a difference. */
export function actionsOf(
  { policy, rule }: OldRule,
  { matchConstraints }: Pick<Matched, "matchConstraints">,
): readonly ActionPart[] {
  const [spec, validate] = [member(policy, "spec"), member(rule, "validate")];
  const ofRule = member(validate, "failureActionOverrides");
  const ofPolicy =
    text(validate, "failureAction") === "" ? member(spec, "validationFailureActionOverrides") : undefined;
  const emits = member(spec, "emitWarning") === true;
  const actions = (action: FailureAction): readonly string[] =>
    action === "Enforce" ? ["Deny"] : emits ? ["Audit", "Warn"] : ["Audit"];
  const usual = actionOf(policy, rule);
  const resources = matchConstraints.resourceRules?.flatMap((each) => each.resources ?? []) ?? [];
  const namespace = resources.some((each) => each === "*" || each === "namespaces") ? OR_NONE : NAMESPACE;
  const steps = [
    ...stepsOf(ofRule, ["validate", "failureActionOverrides"], namespace),
    ...stepsOf(ofPolicy, ["spec", "validationFailureActionOverrides"], namespace),
  ];
  // The first that applies counts.
  let [left, other]: [Cel, Cel] = [TRUE, FALSE];
  for (const { action, test } of steps) {
    if (action !== usual) other = or(other, and(left, test));
    left = and(left, not(test));
  }
  const from = steps[0]?.from ?? [];
  if (other.text === "false") return [{ suffix: "", actions: actions(usual), conditions: [] }];
  const opposite: FailureAction = usual === "Enforce" ? "Audit" : "Enforce";
  if (other.text === "true") return [{ suffix: "", actions: actions(opposite), conditions: [] }];
  const condition = ({ text: expression }: Cel): readonly Placed<NamedExpression>[] => [
    { name: "action", expression, from },
  ];
  return [
    { suffix: "", actions: actions(usual), conditions: condition(not(other)) },
    { suffix: `-${opposite.toLowerCase()}`, actions: actions(opposite), conditions: condition(other) },
  ];
}

const NAMESPACE = primary('request.?namespace.orValue("")');
/** A Namespace is in none. */
const OR_NONE = primary(`(request.kind.kind == "Namespace" ? "" : ${NAMESPACE.text})`);

function stepsOf(
  overrides: unknown,
  path: FieldPath,
  namespace: Cel,
): readonly { readonly action: FailureAction; readonly test: Cel; readonly from: FieldPath }[] {
  if (!Array.isArray(overrides)) return [];
  return overrides.filter(isObject).map((each, index) => {
    const from = [...path, index];
    const names = Array.isArray(each.namespaces) ? each.namespaces.map(String) : undefined;
    const test = and(
      names === undefined ? TRUE : names.length === 0 ? FALSE : matchesAny(namespace, names),
      selects(each.namespaceSelector, primary("namespaceObject.?metadata.?labels"), from),
    );
    return { action: read(text(each, "action")), test, from };
  });
}
