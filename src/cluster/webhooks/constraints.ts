/** Expresses match constraints of CEL policies as webhook rules. */
import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";
import type { MatchResources } from "../../kinds/shared/match/match-resources.js";
import { validateSelector } from "../../kinds/shared/match/validate-match.js";
import type { NamedRule, WebhookRule } from "./demand.js";
import { rulesByName } from "./exclusions.js";
import { EVERYTHING, webhookRules } from "./rules.js";
import { allOf, sameSelector } from "./selectors.js";

/** The part of constraints that a webhook can express. */
export interface WebhookConstraints {
  readonly rules: readonly WebhookRule[];
  readonly named: readonly NamedRule[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** Whether it expresses all of them. Otherwise the policy may not apply to requests of its webhook. */
  readonly isExact: boolean;
}

/** The part of one policy's constraints that a webhook can express. Without rules they cover everything that is not excluded. */
export function webhookRulesOf(match: MatchResources): WebhookConstraints {
  const { namespaceSelector = {}, objectSelector = {}, resourceRules = [], excludeResourceRules = [] } = match;
  const inNamespaces = usable(namespaceSelector);
  const ofObjects = usable(objectSelector);
  const named = resourceRules.some(({ resourceNames = [] }) => resourceNames.length > 0);
  return {
    rules: resourceRules.length === 0 ? [EVERYTHING] : webhookRules(resourceRules),
    named: rulesByName(resourceRules),
    namespaceSelector: inNamespaces ?? {},
    objectSelector: ofObjects ?? {},
    isExact: inNamespaces !== undefined && ofObjects !== undefined && !named && excludeResourceRules.length === 0,
  };
}

/** A selector, unless the API server would refuse it: the policy fails on it for any request, and that is its own answer. */
const usable = (selector: LabelSelector): LabelSelector | undefined =>
  validateSelector(selector, []).length > 0 ? undefined : allOf(selector);

/** The union of several constraints: selectors only where all have the same. */
export function anyOf(several: readonly WebhookConstraints[]): WebhookConstraints {
  const [first, ...others] = several;
  if (first === undefined) return { rules: [], named: [], namespaceSelector: {}, objectSelector: {}, isExact: true };
  if (others.length === 0) return first;
  const sameNamespaces = others.every((each) => sameSelector(each.namespaceSelector, first.namespaceSelector));
  const sameObjects = others.every((each) => sameSelector(each.objectSelector, first.objectSelector));
  return {
    rules: webhookRules(several.flatMap(({ rules }) => rules)),
    named: several.flatMap(({ named }) => named),
    namespaceSelector: sameNamespaces ? first.namespaceSelector : {},
    objectSelector: sameObjects ? first.objectSelector : {},
    isExact: false,
  };
}
