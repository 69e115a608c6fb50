/** What becomes of failures: `validationFailureAction`, `failureAction` and their overrides by namespace. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject, member, text } from "../../../kubernetes/object.js";
import type { NamedExpression } from "../resource.js";
import { and, type Cel, FALSE, not, or, primary, TRUE } from "./cel-text.js";
import { selects } from "./match/block-tests.js";
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
  const own = text(member(rule, "validate"), "failureAction");
  return read(own === "" ? text(member(policy, "spec"), "validationFailureAction") : own);
}

const read = (action: string): FailureAction => (action.toLowerCase() === "enforce" ? "Enforce" : "Audit");

/** The parts: one, or two where overrides make a difference. */
export function actionsOf({ policy, rule }: OldRule): readonly ActionPart[] {
  const [spec, validate] = [member(policy, "spec"), member(rule, "validate")];
  const ofRule = member(validate, "failureActionOverrides");
  const ofPolicy =
    text(validate, "failureAction") === "" ? member(spec, "validationFailureActionOverrides") : undefined;
  const emits = member(spec, "emitWarning") === true;
  const actions = (action: FailureAction): readonly string[] =>
    action === "Enforce" ? ["Deny"] : emits ? ["Audit", "Warn"] : ["Audit"];
  const usual = actionOf(policy, rule);
  const steps = [...stepsOf(ofRule, ["validate", "failureActionOverrides"]), ...stepsOf(ofPolicy, ["validate"])];
  // The first that applies counts.
  let [left, other]: [Cel, Cel] = [TRUE, FALSE];
  for (const { action, test } of steps) {
    if (action !== usual) other = or(other, and(left, test));
    left = and(left, not(group(test)));
  }
  const from = steps[0]?.from ?? [];
  if (other.text === "false") return [{ suffix: "", actions: actions(usual), conditions: [] }];
  const opposite: FailureAction = usual === "Enforce" ? "Audit" : "Enforce";
  if (other.text === "true") return [{ suffix: "", actions: actions(opposite), conditions: [] }];
  const condition = ({ text: expression }: Cel): readonly Placed<NamedExpression>[] => [
    { name: "action", expression, from },
  ];
  return [
    { suffix: "", actions: actions(usual), conditions: condition(not(group(other))) },
    { suffix: `-${opposite.toLowerCase()}`, actions: actions(opposite), conditions: condition(other) },
  ];
}

const group = (cel: Cel): Cel => (cel.text === "true" || cel.text === "false" ? cel : primary(`(${cel.text})`));

const NAMESPACE = primary('(request.kind.kind == "Namespace" ? "" : request.?namespace.orValue(""))');

function stepsOf(
  overrides: unknown,
  path: FieldPath,
): readonly { readonly action: FailureAction; readonly test: Cel; readonly from: FieldPath }[] {
  if (!Array.isArray(overrides)) return [];
  return overrides.filter(isObject).map((each, index) => {
    const from = [...path, index];
    const names = Array.isArray(each.namespaces) ? each.namespaces.map(String) : undefined;
    const test = and(
      names === undefined ? TRUE : names.length === 0 ? FALSE : matchesAny(NAMESPACE, names),
      selects(each.namespaceSelector, primary("namespaceObject.?metadata.?labels"), from),
    );
    return { action: read(text(each, "action")), test, from };
  });
}
