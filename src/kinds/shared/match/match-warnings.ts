/** Warnings about match criteria that no request meets, as far as that can be found out without a cluster. */
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { LabelSelector } from "./label-selector.js";
import type { MatchResources } from "./match-resources.js";
import type { ResourceRule } from "./resource-rule.js";
import { ruleWarnings } from "./rule-warnings.js";

/** Parts that match nothing, or only excluded requests, each at its place below `path`. */
export function matchWarnings(match: MatchResources, path: FieldPath): readonly FieldError[] {
  const { resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector } = match;
  const warnings: FieldError[] = [];
  const below = (at: FieldPath, found: readonly FieldError[]): void => {
    warnings.push(...found.map((warning) => ({ ...warning, path: [...path, ...at, ...warning.path] })));
  };
  resourceRules.forEach((rule, i) => {
    below(["resourceRules", i], ruleWarnings(rule, match.matchPolicy === "Exact"));
    const by = excludeResourceRules.findIndex((exclude) => covers(exclude, rule));
    if (by === -1) return;
    below(
      ["resourceRules", i],
      [{ path: [], text: `excludeResourceRules[${by}] excludes all that this rule matches` }],
    );
  });
  below(["namespaceSelector"], selectorWarnings(namespaceSelector));
  below(["objectSelector"], selectorWarnings(objectSelector));
  return warnings;
}

/** Whether an exclude rule matches all that another one does. */
function covers(exclude: ResourceRule, rule: ResourceRule): boolean {
  const holds = (all: readonly string[] = [], some: readonly string[] = []): boolean =>
    some.length > 0 && (all.includes("*") || some.every((each) => all.includes(each)));
  const { scope = "*", resourceNames = [] } = exclude;
  const names = rule.resourceNames ?? [];
  return (
    holds(exclude.operations, rule.operations) &&
    holds(exclude.apiGroups, rule.apiGroups) &&
    holds(exclude.apiVersions, rule.apiVersions) &&
    (rule.resources ?? []).length > 0 &&
    (rule.resources ?? []).every((resource) => coversResource(exclude.resources ?? [], resource)) &&
    (scope === "*" || scope === (rule.scope ?? "*")) &&
    (resourceNames.length === 0 || (names.length > 0 && names.every((name) => resourceNames.includes(name))))
  );
}

/** Whether a list covers a resource. `*` stands for resources without their parts, `*` and a part for those, both for all. */
function coversResource(all: readonly string[], resource: string): boolean {
  if (all.includes("*/*") || all.includes(resource)) return true;
  const [name = "", part] = resource.split("/");
  if (part === undefined) return resource !== "*" && all.some((each) => each === "*" || each === `${name}/*`);
  return part !== "*" && all.some((each) => each === `*/${part}` || each === `${name}/*`);
}

/** Requirements of one label that contradict each other. */
function selectorWarnings(selector: LabelSelector | undefined): readonly FieldError[] {
  const keys = new Map<string, { values?: ReadonlySet<string>; not: Set<string>; exists: boolean; absent: boolean }>();
  const of = (key: string) => {
    const known = keys.get(key) ?? { not: new Set<string>(), exists: false, absent: false };
    keys.set(key, known);
    return known;
  };
  const among = (key: string, values: readonly string[]): void => {
    const known = of(key);
    known.values = new Set(known.values === undefined ? values : values.filter((value) => known.values?.has(value)));
  };
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) among(key, [value]);
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    if (operator === "In" && values.length > 0) among(key, values);
    else if (operator === "NotIn") for (const value of values) of(key).not.add(value);
    else if (operator === "Exists") of(key).exists = true;
    else if (operator === "DoesNotExist") of(key).absent = true;
  }
  return [...keys].flatMap(([key, { values, not, exists, absent }]) => {
    const none = values !== undefined && [...values].every((value) => not.has(value));
    if (!none && !(absent && (exists || values !== undefined))) return [];
    return [
      { path: [], text: `no labels meet this selector: what it wants of ${JSON.stringify(key)} contradicts itself` },
    ];
  });
}
