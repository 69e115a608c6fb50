/** Variants of a policy about pods, for the controllers that create pods (spec kyverno.md 3). */

import { setKey } from "../../../data/plain-object.js";
import { compareNames } from "../../../kubernetes/names.js";
import { isObject } from "../../../kubernetes/object.js";
import type { LabelSelector } from "../../shared/match/label-selector.js";
import type { MatchResources } from "../../shared/match/match-resources.js";
import type { ResourceRule } from "../../shared/match/resource-rule.js";
import type { Target } from "../compiled-policy.js";
import type { NamedExpression, PolicySpec } from "../resource.js";
import { type ControllerVariant, targetsByVariant } from "./controllers.js";
import { inTemplate } from "./mutations.js";

// A policy's spec as Go's encoder would write it: empty members are left out, those that Go always writes are present.

type Filled<T> = T extends undefined ? never : T;

/** Leaves out members that are `undefined`. */
function present<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** A list that is not empty, its items converted. */
function items<T, R>(list: readonly T[] | undefined, make: (item: T) => R): readonly R[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list.map(make);
}

const texts = (list: readonly string[] | undefined): readonly string[] | undefined => items(list, (text) => text);
const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
const whole = <T, R>(value: T, make: (value: Filled<T>) => R): R | undefined =>
  value === undefined ? undefined : make(value as Filled<T>);

/** The spec in Go's form, in the order of Go's struct. */
function goSpec(spec: PolicySpec): PolicySpec {
  return present<PolicySpec>({
    matchConstraints: whole(spec.matchConstraints, goMatch),
    validations: items(spec.validations, ({ expression = "", message, reason, messageExpression }) =>
      present({ expression, message: filled(message), reason, messageExpression: filled(messageExpression) }),
    ),
    failurePolicy: spec.failurePolicy,
    auditAnnotations: items(spec.auditAnnotations, ({ key = "", valueExpression = "" }) => ({ key, valueExpression })),
    matchConditions: items(spec.matchConditions, goNamed),
    variables: items(spec.variables, goNamed),
    autogen: whole(spec.autogen, ({ podControllers, validatingAdmissionPolicy }) =>
      present({
        podControllers: whole(podControllers, ({ controllers }) => present({ controllers: texts(controllers) })),
        validatingAdmissionPolicy: whole(validatingAdmissionPolicy, ({ enabled }) => present({ enabled })),
      }),
    ),
    validationActions: texts(spec.validationActions),
    webhookConfiguration: whole(spec.webhookConfiguration, ({ timeoutSeconds }) => present({ timeoutSeconds })),
    evaluation: whole(spec.evaluation, ({ mode, admission, background }) =>
      present({
        mode: filled(mode),
        admission: whole(admission, ({ enabled }) => present({ enabled })),
        background: whole(background, ({ enabled }) => present({ enabled })),
      }),
    ),
    validationConfigurations: spec.validationConfigurations,
    matchImageReferences: items(spec.matchImageReferences, (reference) => reference),
    credentials: spec.credentials,
    images: items(spec.images, goNamed),
    attestors: items(spec.attestors, (attestor) => attestor),
    attestations: items(spec.attestations, (attestation) => attestation),
  });
}

const goNamed = ({ name = "", expression = "" }: NamedExpression): NamedExpression => ({ name, expression });

function goMatch(match: MatchResources): MatchResources {
  return present<MatchResources>({
    namespaceSelector: whole(match.namespaceSelector, goSelector),
    objectSelector: whole(match.objectSelector, goSelector),
    resourceRules: items(match.resourceRules, goRule),
    excludeResourceRules: items(match.excludeResourceRules, goRule),
    matchPolicy: match.matchPolicy,
  });
}

function goSelector({ matchLabels = {}, matchExpressions }: LabelSelector): LabelSelector {
  return present<LabelSelector>({
    matchLabels: Object.keys(matchLabels).length === 0 ? undefined : matchLabels,
    matchExpressions: items(matchExpressions, ({ key, operator, values }) =>
      present({ key, operator, values: texts(values) }),
    ),
  });
}

const goRule = (rule: ResourceRule): ResourceRule =>
  present<ResourceRule>({
    resourceNames: texts(rule.resourceNames),
    operations: texts(rule.operations),
    apiGroups: texts(rule.apiGroups),
    apiVersions: texts(rule.apiVersions),
    resources: texts(rule.resources),
    scope: rule.scope,
  });

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

/**
 * The variants of a policy, none for one that is not about pods alone.
 * @param mutating whether it changes objects: other parts of it are rewritten, in another way
 */
export function autogenOf(spec: PolicySpec, mutating = false): readonly AutogenVariant[] {
  const { matchConstraints = {}, autogen } = spec;
  const rule = podRule(matchConstraints);
  if (rule === undefined) return [];
  const targets = targetsByVariant(autogen?.podControllers?.controllers);
  return VARIANTS.flatMap((name) => {
    const own = targets.get(name);
    return own === undefined
      ? []
      : [{ name, targets: own, spec: variantSpec(spec, matchConstraints, rule, name, own, mutating) }];
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
  mutating: boolean,
): PolicySpec {
  const { matchConstraints: _, ...rest } = spec;
  // Without operations there are no constraints: such a variant never matches.
  if (operations.length === 0) return mutating ? rest : replacePaths(goSpec(rest), name);
  const resourceRules = resourceRulesOf(targets, operations);
  const whole = { ...rest, matchConstraints: { ...(namespaceSelector && { namespaceSelector }), resourceRules } };
  if (mutating) return inTemplate(whole, name);
  const own = goSpec(whole);
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
