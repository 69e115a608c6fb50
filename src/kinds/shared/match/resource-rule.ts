/** Matches one resource rule against a request (spec validating-admission-policy.md 3.2). */
import type { GroupVersionResource } from "../../../kubernetes/names.js";
import type { RequestAttributes } from "./request-attributes.js";

/** A rule as it is written in a policy or binding. */
export interface ResourceRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}

/** A set of words, or anything. */
type Words = ReadonlySet<string> | "*";

/** A prepared rule. */
export interface PreparedRule {
  readonly operations: Words;
  readonly groups: Words;
  readonly versions: Words;
  readonly resources: readonly { readonly resource: string; readonly subresource: string }[];
  /** Empty: any name. */
  readonly names: readonly string[];
  readonly scope: string;
}

const words = (list: readonly string[] = []): Words => (list.includes("*") ? "*" : new Set(list));
const holds = (set: Words, word: string): boolean => set === "*" || set.has(word);

/** Prepares a rule. */
export function prepareRule(rule: ResourceRule): PreparedRule {
  return {
    operations: words(rule.operations),
    groups: words(rule.apiGroups),
    versions: words(rule.apiVersions),
    resources: (rule.resources ?? []).map((entry) => {
      const slash = entry.indexOf("/");
      return slash < 0
        ? { resource: entry, subresource: "" }
        : { resource: entry.slice(0, slash), subresource: entry.slice(slash + 1) };
    }),
    names: rule.resourceNames ?? [],
    scope: rule.scope ?? "*",
  };
}

/** Whether the rule holds for the request as one of `resource`; names are matched separately, see {@link nameMatches}. */
export function ruleMatches(rule: PreparedRule, request: RequestAttributes, resource: GroupVersionResource): boolean {
  return (
    holds(rule.groups, resource.group) &&
    holds(rule.versions, resource.version) &&
    ruleMatchesSomeVersion(rule, request, resource)
  );
}

/** Whether the rule holds for the request except group and version, as it may for an equivalent resource. */
export function ruleMatchesSomeVersion(
  rule: PreparedRule,
  request: RequestAttributes,
  resource: GroupVersionResource,
): boolean {
  return (
    holds(rule.operations, request.operation) &&
    rule.resources.some(
      (entry) =>
        (entry.resource === "*" || entry.resource === resource.resource) &&
        (entry.subresource === "*" || entry.subresource === request.subresource),
    ) &&
    scopeMatches(rule.scope, request.namespace, resource)
  );
}

/** Whether the rule names one of the groups. */
export const ruleNamesGroup = (rule: PreparedRule, groups: readonly string[]): boolean =>
  groups.some((group) => holds(rule.groups, group));

/** Whether the rule names the resource and a group of it, neither by `*`. */
export const ruleNamesOutright = (rule: PreparedRule, { resource }: GroupVersionResource): boolean =>
  rule.groups !== "*" && rule.resources.some((entry) => entry.resource === resource);

/** Whether the rule's names contain the request's. */
export const nameMatches = (rule: PreparedRule, name: string): boolean =>
  rule.names.length === 0 || rule.names.includes(name);

function scopeMatches(scope: string, namespace: string, resource: GroupVersionResource): boolean {
  if (scope === "*") return true;
  const isNamespace = resource.group === "" && resource.version === "v1" && resource.resource === "namespaces";
  if (scope === "Namespaced") return namespace !== "" && !isNamespace;
  return scope === "Cluster" && (namespace === "" || isNamespace);
}
