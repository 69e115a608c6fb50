/** Variants of a policy about pods, for the controllers that create pods (spec kyverno.md 3). */

import { setKey } from "../../../data/plain-object.js";
import { compareNames } from "../../../kubernetes/names.js";
import { isObject } from "../../../kubernetes/object.js";
import type { MatchResources } from "../../shared/match/match-resources.js";
import type { ResourceRule } from "../../shared/match/resource-rule.js";
import type { Target } from "../compiled-policy.js";
import type { PolicySpec } from "../resource.js";
import { type ControllerVariant, targetsByVariant } from "./controllers.js";
import { goSpec } from "./go-spec.js";

// Paths of a pod are replaced by paths of the pod template. The reference replaces text in the JSON of the whole spec: wherever a text mentions a
// path, be it an expression, a message or a label's key (spec kyverno.md 3.3).

/** The places of a pod's `spec` and `metadata` in a controller. */
const TEMPLATES = {
  defaults: "spec.template",
  cronjobs: "spec.jobTemplate.spec.template",
} as const satisfies Partial<Record<ControllerVariant, string>>;

/** The paths, in order of replacement. A namespace is the controller's own, since templates have none. */
const PATHS = [
  { pattern: /object\.spec(?!\.namespace(?![A-Za-z0-9_]))/g, root: "object", member: "spec" },
  { pattern: /oldObject\.spec(?!\.namespace(?![A-Za-z0-9_]))/g, root: "oldObject", member: "spec" },
  { pattern: /object\.metadata(?!\.namespace(?![A-Za-z0-9_]))/g, root: "object", member: "metadata" },
  { pattern: /oldObject\.metadata(?!\.namespace(?![A-Za-z0-9_]))/g, root: "oldObject", member: "metadata" },
] as const;

/** Replaces the paths in every text of a JSON value, keys of maps included. A variant without a template at a fixed place is not changed. */
function replacePaths<T>(value: T, variant: ControllerVariant): T;
function replacePaths(value: unknown, variant: ControllerVariant): unknown {
  return variant === "extract" ? value : replaceIn(value, TEMPLATES[variant]);
}

function replaceIn(value: unknown, template: string): unknown {
  if (typeof value === "string") return replaceText(value, template);
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, template));
  if (!isObject(value)) return value;
  const replaced: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value))
    setKey(replaced, replaceText(key, template), replaceIn(item, template));
  return replaced;
}

const replaceText = (text: string, template: string): string =>
  PATHS.reduce((so, { pattern, root, member }) => so.replace(pattern, `${root}.${template}.${member}`), text);

// Policies that get variants for pod controllers (spec kyverno.md 3.1).

/** The rule that such a policy must have. */
const POD_RULE = { apiGroups: "", apiVersions: "v1", resources: "pods" } as const;

/** The only rule of a policy about pods alone, whatever their names and labels; `undefined` for all other policies. */
function podRule(match: MatchResources | undefined): ResourceRule | undefined {
  const { resourceRules = [], excludeResourceRules = [], objectSelector = {} } = match ?? {};
  const { matchLabels = {}, matchExpressions = [] } = objectSelector;
  const [rule, ...others] = resourceRules;
  if (rule === undefined || others.length > 0 || excludeResourceRules.length > 0) return undefined;
  if (Object.keys(matchLabels).length > 0 || matchExpressions.length > 0) return undefined;
  if ((rule.resourceNames ?? []).length > 0) return undefined;
  for (const part of ["apiGroups", "apiVersions", "resources"] as const) {
    const values = rule[part] ?? [];
    if (values.length !== 1 || values[0] !== POD_RULE[part]) return undefined;
  }
  return rule;
}

/** The variant of a policy for some controllers. */
export interface AutogenVariant {
  readonly name: ControllerVariant;
  /** Sorted. */
  readonly targets: readonly Target[];
  /** For `extract`, the policy's own except its match constraints: it is evaluated on the pods found in the objects. */
  readonly spec: PolicySpec;
}

/** The variants, in order of evaluation. */
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

/** The value of the policy's `status.autogen.configs`; `undefined` without variants. */
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

/** The rules of sorted targets: one for each group and version, with sorted resources. */
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

/**
 * The spec with its labels as the reference leaves them: it decodes the replaced text into the old spec, so that changed labels keep their old key beside the
 * new one.
 */
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
