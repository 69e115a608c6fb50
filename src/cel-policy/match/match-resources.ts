/** Match criteria of a policy or binding against a request (spec validating-admission-policy.md 3). */
import { Waiting } from "../../cel/questions.js";
import type { GroupVersionKind, GroupVersionResource } from "../../kubernetes/names.js";
import { labelsOf } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { type LabelSelector, type PreparedSelector, prepareSelector } from "./label-selector.js";
import { hasMetadata, type RequestAttributes } from "./request-attributes.js";
import { nameMatches, type PreparedRule, prepareRule, type ResourceRule, ruleMatches } from "./resource-rule.js";

/** Match criteria as they are written. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchPolicy?: string;
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
}

/** What of the world decides whether criteria are met. */
type Lookups = Pick<RequestWorld, "namespace" | "equivalents">;

/** Match criteria made ready. */
export interface PreparedMatch {
  /** `undefined`: missing in an unvalidated, undefaulted policy. */
  readonly namespaceSelector: PreparedSelector | undefined;
  readonly objectSelector: PreparedSelector | undefined;
  readonly equivalent: boolean;
  readonly rules: readonly PreparedRule[];
  readonly excludes: readonly PreparedRule[];
}

/** The request is of interest, as this resource and kind. */
export interface Matched {
  readonly outcome: "match";
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** It is not, because of this; or nobody can tell. */
export type MatchResult =
  | Matched
  | { readonly outcome: "no"; readonly reason: string }
  | { readonly outcome: "error"; readonly message: string }
  | Waiting;

/** Makes criteria ready. Without `matchPolicy` only exact matches count: defaulting happens earlier. */
export function prepareMatch(criteria: MatchResources): PreparedMatch {
  const { namespaceSelector, objectSelector, matchPolicy } = criteria;
  return {
    namespaceSelector: namespaceSelector && prepareSelector(namespaceSelector),
    objectSelector: objectSelector && prepareSelector(objectSelector),
    equivalent: matchPolicy !== undefined && matchPolicy !== "Exact",
    rules: (criteria.resourceRules ?? []).map(prepareRule),
    excludes: (criteria.excludeResourceRules ?? []).map(prepareRule),
  };
}

const NO = (reason: string): MatchResult => ({ outcome: "no", reason });

/** Whether the request meets the criteria. */
export function matchRequest(match: PreparedMatch, request: RequestAttributes, world: Lookups): MatchResult {
  const { namespaceSelector, objectSelector } = match;
  if (namespaceSelector === undefined) return nilSelector("namespace");
  if (objectSelector === undefined) return nilSelector("object");

  const inNamespace = namespaceMatches(namespaceSelector, request, world);
  if (inNamespace === false) return NO("the namespace's labels do not match the namespace selector");
  const ofObject = objectMatches(objectSelector, request);
  if (ofObject === false) return NO("the object's labels do not match the object selector");

  const excluded = firstMatch(match.excludes, match.equivalent, request, world);
  if (excluded instanceof Waiting) return excluded;
  if (typeof excluded === "string") return { outcome: "error", message: excluded };
  if (excluded !== undefined) return NO("an exclude rule matches");

  let matched: Matched | undefined = { outcome: "match", resource: request.resource, kind: request.kind };
  if (match.rules.length > 0) {
    const found = firstMatch(match.rules, match.equivalent, request, world);
    if (found instanceof Waiting) return found;
    if (typeof found === "string") return { outcome: "error", message: found };
    matched = found;
  }
  if (matched === undefined) return NO("no resource rule matches");
  // Errors of selectors only concern requests that all the rest matches.
  if (inNamespace !== true)
    return inNamespace instanceof Waiting ? inNamespace : { outcome: "error", message: inNamespace };
  if (ofObject !== true) return { outcome: "error", message: ofObject };
  return matched;
}

const nilSelector = (which: string): MatchResult => ({
  outcome: "error",
  message: `a nil ${which} selector was passed, please ensure selectors are initialized properly`,
});

const internalError = (message: string): string => `Internal error occurred: ${message}`;

/** Yes, no, or an error to remember. */
function namespaceMatches(
  selector: PreparedSelector,
  request: RequestAttributes,
  world: Lookups,
): boolean | string | Waiting {
  const isNamespace = request.resource.resource === "namespaces";
  if (request.namespace === "" && !isNamespace) return true;
  if (selector.error !== undefined) return internalError(selector.error);
  if (selector.empty) return true;
  if (isNamespace && request.subresource === "" && (request.operation === "CREATE" || request.operation === "UPDATE")) {
    // The stored Namespace is not what it is about to become.
    if (request.object === undefined) return internalError("object does not implement the Object interfaces");
    return selector.matches(labelsOf(request.object));
  }
  const namespace = world.namespace(request.namespace);
  if (namespace instanceof Waiting) return namespace;
  if (namespace instanceof LookupFailure) return internalError(namespace.message);
  if (namespace === undefined) return namespaceNotFound(request.namespace);
  return selector.matches(labelsOf(namespace));
}

/** The API server's words for a Namespace that does not exist. */
export const namespaceNotFound = (name: string): string => `namespaces "${name}" not found`;

function objectMatches(selector: PreparedSelector, request: RequestAttributes): boolean | string {
  if (selector.error !== undefined) return internalError(selector.error);
  if (selector.empty) return true;
  if (!hasMetadata(request)) return false;
  return (
    (request.object !== undefined && selector.matches(labelsOf(request.object))) ||
    (request.oldObject !== undefined && selector.matches(labelsOf(request.oldObject)))
  );
}

/** The first rule that holds: for the resource as addressed, then, where allowed, for its equivalents. A string is an error. */
function firstMatch(
  rules: readonly PreparedRule[],
  equivalent: boolean,
  request: RequestAttributes,
  world: Lookups,
): Matched | string | Waiting | undefined {
  for (const rule of rules) {
    if (ruleMatches(rule, request, request.resource) && nameMatches(rule, request.name)) {
      return { outcome: "match", resource: request.resource, kind: request.kind };
    }
  }
  if (!equivalent || rules.length === 0) return undefined;
  const equivalents = world.equivalents(request.resource, request.subresource) ?? [];
  if (equivalents instanceof Waiting) return equivalents;
  if (equivalents instanceof LookupFailure) return equivalents.message;
  for (const rule of rules) {
    for (const { resource, kind } of equivalents) {
      if (sameResource(resource, request.resource) || !ruleMatches(rule, request, resource)) continue;
      if (kind === undefined) {
        return `unable to convert to ${resource.group}/${resource.version}, Resource=${resource.resource}: unknown kind`;
      }
      if (nameMatches(rule, request.name)) return { outcome: "match", resource, kind };
    }
  }
  return undefined;
}

const sameResource = (a: GroupVersionResource, b: GroupVersionResource): boolean =>
  a.group === b.group && a.version === b.version && a.resource === b.resource;
