/** Webhook rules in a canonical form. */
import type { MatchResources } from "../../kinds/shared/match/match-resources.js";
import type { ResourceRule } from "../../kinds/shared/match/resource-rule.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import type { WebhookRule } from "./demand.js";

/** The operations of webhooks; no API server has others. */
const OPERATIONS: ReadonlySet<string> = new Set(["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
const SCOPES: ReadonlySet<string> = new Set(["*", "Namespaced", "Cluster"]);

/** A rule about everything. */
export const EVERYTHING: WebhookRule = {
  apiGroups: ["*"],
  apiVersions: ["*"],
  operations: ["*"],
  resources: ["*/*"],
  scope: "*",
};

/**
 * Canonical rules of a webhook: without names of objects, which it can't express; each with its words in order, none of which another one covers, and the
 * rules in order. A rule that matches nothing is left out.
 */
export function webhookRules(rules: readonly ResourceRule[]): readonly WebhookRule[] {
  const found = new Map<string, WebhookRule>();
  for (const rule of rules) {
    const own = webhookRule(rule);
    if (own !== undefined) found.set(JSON.stringify(own), own);
  }
  return [...found].sort(([a], [b]) => compareNames(a, b)).map(([, rule]) => rule);
}

function webhookRule(rule: ResourceRule): WebhookRule | undefined {
  const scope = rule.scope ?? "*";
  if (!isScope(scope)) return undefined;
  const made: WebhookRule = {
    apiGroups: words(rule.apiGroups),
    apiVersions: words((rule.apiVersions ?? []).filter((version) => version !== "")),
    operations: words((rule.operations ?? []).filter((operation) => OPERATIONS.has(operation))),
    resources: resourceWords(rule.resources),
    scope,
  };
  const { apiGroups, apiVersions, operations, resources } = made;
  return [apiGroups, apiVersions, operations, resources].every(({ length }) => length > 0) ? made : undefined;
}

const isScope = (scope: string): scope is WebhookRule["scope"] => SCOPES.has(scope);

const sorted = (list: readonly string[]): readonly string[] => [...new Set(list)].sort(compareNames);
const words = (list: readonly string[] = []): readonly string[] => (list.includes("*") ? ["*"] : sorted(list));

/** The resources without those that another one covers: `*` covers `pods`, `pods/*` covers `pods` and `pods/status`. The API server refuses them side by side. */
function resourceWords(list: readonly string[] = []): readonly string[] {
  const all = sorted(list.filter((word) => word !== ""));
  return all.filter((word) => !all.some((other) => other !== word && contains(other, word)));
}

function contains(outer: string, inner: string): boolean {
  const [resource, subresource] = parts(outer);
  const [ofResource, ofSubresource] = parts(inner);
  return (resource === "*" || resource === ofResource) && (subresource === "*" || subresource === ofSubresource);
}

/** The resource and the subresource of a rule's word; without one, `""`. */
export function parts(word: string): readonly [resource: string, subresource: string] {
  const slash = word.indexOf("/");
  return slash < 0 ? [word, ""] : [word.slice(0, slash), word.slice(slash + 1)];
}

/** Whether some rule may match objects of a resource, including its subresources. */
export const mayMatch = (rules: readonly WebhookRule[], group: string, resource: string): boolean =>
  rules.some(
    ({ apiGroups, resources }) =>
      (apiGroups.includes("*") || apiGroups.includes(group)) &&
      resources.some((word) => parts(word)[0] === "*" || parts(word)[0] === resource),
  );

/**
 * Reads match constraints of a document, even if it has mistakes: a policy that can't be loaded denies, and its webhook is needed for that.
 * A member of the wrong type counts as absent.
 */
export function readMatch(value: unknown): MatchResources {
  const matchPolicy = text(value, "matchPolicy");
  return {
    namespaceSelector: readSelector(member(value, "namespaceSelector")),
    objectSelector: readSelector(member(value, "objectSelector")),
    resourceRules: readRules(member(value, "resourceRules")),
    excludeResourceRules: readRules(member(value, "excludeResourceRules")),
    ...(matchPolicy !== "" && { matchPolicy }),
  };
}

/** Reads a list of rules of a document. */
export const readRules = (value: unknown): readonly ResourceRule[] =>
  listOf(value).map((rule) => ({
    operations: textsOf(member(rule, "operations")),
    apiGroups: textsOf(member(rule, "apiGroups")),
    apiVersions: textsOf(member(rule, "apiVersions")),
    resources: textsOf(member(rule, "resources")),
    resourceNames: textsOf(member(rule, "resourceNames")),
    ...(typeof member(rule, "scope") === "string" && { scope: text(rule, "scope") }),
  }));

/** Reads a selector of a document. */
export function readSelector(value: unknown): NonNullable<MatchResources["objectSelector"]> {
  const labels = member(value, "matchLabels");
  const matchLabels = Object.fromEntries(
    Object.entries(isObject(labels) ? labels : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
  const matchExpressions = listOf(member(value, "matchExpressions")).map((each) => ({
    key: text(each, "key"),
    operator: text(each, "operator"),
    ...(member(each, "values") !== undefined && { values: textsOf(member(each, "values")) }),
  }));
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

/** A list; any other value is read as an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The texts of a list. */
export const textsOf = (value: unknown): readonly string[] =>
  listOf(value).filter((word): word is string => typeof word === "string");
