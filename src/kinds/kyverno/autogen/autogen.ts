/** Variants of a policy about pods, for the controllers that make pods (spec kyverno.md 3). */

import { compareNames } from "../../../kubernetes/names.js";
import type { MatchResources } from "../../shared/match/match-resources.js";
import type { ResourceRule } from "../../shared/match/resource-rule.js";
import type { Target } from "../compiled-policy.js";
import type { PolicySpec } from "../resource.js";
import { type ControllerVariant, targetsByVariant } from "./controllers.js";
import { podRule } from "./eligibility.js";
import { goSpec } from "./go-spec.js";
import { replacePaths } from "./replacement.js";

/** What a policy becomes for some controllers. */
export interface AutogenVariant {
  readonly name: ControllerVariant;
  /** Sorted. */
  readonly targets: readonly Target[];
  /** For `extract`, the policy's own but for its match constraints: it is evaluated on the pods found in the objects. */
  readonly spec: PolicySpec;
}

/** In the order in which they are evaluated. */
const VARIANTS: readonly ControllerVariant[] = ["cronjobs", "defaults", "extract"];

/** The variants of a policy, none for one that is not about pods alone. */
export function autogenOf(spec: PolicySpec): readonly AutogenVariant[] {
  const { matchConstraints = {}, autogen } = spec;
  const rule = podRule(matchConstraints);
  if (rule === undefined) return [];
  const targets = targetsByVariant(autogen?.podControllers?.controllers);
  return VARIANTS.flatMap((name) => {
    const own = targets.get(name);
    return own === undefined
      ? []
      : [{ name, targets: own, spec: variantSpec(spec, matchConstraints, rule, name, own) }];
  });
}

/** What `status.autogen.configs` of the policy would hold; `undefined` without variants. */
export function autogenStatus(
  variants: readonly AutogenVariant[],
): Readonly<Record<string, { readonly targets: readonly object[]; readonly spec: PolicySpec }>> | undefined {
  if (variants.length === 0) return undefined;
  return Object.fromEntries(variants.map(({ name, targets, spec }) => [name, { targets, spec }]));
}

function variantSpec(
  spec: PolicySpec,
  { namespaceSelector }: MatchResources,
  { operations = [] }: ResourceRule,
  name: ControllerVariant,
  targets: readonly Target[],
): PolicySpec {
  const { matchConstraints: _, ...rest } = spec;
  // Without operations there are no constraints: such a variant never matches.
  if (operations.length === 0) return replacePaths(goSpec(rest), name);
  const resourceRules = resourceRulesOf(targets, operations);
  const own = goSpec({ ...rest, matchConstraints: { ...(namespaceSelector && { namespaceSelector }), resourceRules } });
  const replaced = replacePaths(own, name);
  return keepLabels(replaced, own.matchConstraints?.namespaceSelector?.matchLabels);
}

/** One rule for each group and version, with sorted resources. Targets come sorted. */
function resourceRulesOf(targets: readonly Target[], operations: readonly string[]): ResourceRule[] {
  const resources = new Map<string, { readonly target: Target; readonly names: string[] }>();
  for (const target of targets) {
    const key = `${target.group}/${target.version}`;
    const own = resources.get(key);
    if (own === undefined) resources.set(key, { target, names: [target.resource] });
    else own.names.push(target.resource);
  }
  return [...resources.values()].map(({ target: { group, version }, names }) => ({
    operations,
    apiGroups: [group],
    apiVersions: [version],
    resources: names.sort(compareNames),
  }));
}

/** The reference reads the replaced text into the old spec: labels whose keys were replaced keep their old key beside the new one. */
function keepLabels(spec: PolicySpec, labels: Readonly<Record<string, string>> | undefined): PolicySpec {
  const { matchConstraints } = spec;
  if (labels === undefined || matchConstraints?.namespaceSelector === undefined) return spec;
  const { namespaceSelector } = matchConstraints;
  const matchLabels = { ...labels, ...namespaceSelector.matchLabels };
  return {
    ...spec,
    matchConstraints: { ...matchConstraints, namespaceSelector: { ...namespaceSelector, matchLabels } },
  };
}
