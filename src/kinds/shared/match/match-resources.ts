/** Match criteria of a policy or binding against a request (spec validating-admission-policy.md 3). */
import { Waiting } from "../../../cel/index.js";
import { labelsOf } from "../../../kubernetes/object.js";
import type { RequestWorld } from "../../../world/request-world.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import { isLeftOut, type LabelSelector, type PreparedSelector, prepareSelector } from "./label-selector.js";
import { type Failed, type Matched, matchRules } from "./match-rules.js";
import { hasMetadata, type RequestAttributes } from "./request-attributes.js";
import { type PreparedRule, prepareRule, type ResourceRule } from "./resource-rule.js";

/** Match criteria as they are written. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchPolicy?: string;
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
}

/** The look-ups that matching needs. */
type Lookups = Pick<RequestWorld, "namespace" | "equivalents">;

/** Prepared match criteria. */
export interface PreparedMatch {
  /** `undefined`: missing in an unvalidated, undefaulted policy. */
  readonly namespaceSelector: PreparedSelector | undefined;
  readonly objectSelector: PreparedSelector | undefined;
  readonly equivalent: boolean;
  readonly rules: readonly PreparedRule[];
  /** The rules as they are written. */
  readonly written: readonly ResourceRule[];
  readonly excludes: readonly PreparedRule[];
}

/** The result: the resource and kind that match; the reason why not; the failure when that cannot be found out; or it must be waited for. */
export type MatchResult = Matched | Failed | { readonly outcome: "no"; readonly reason: string } | Waiting;

/** Prepares criteria. Without `matchPolicy` only exact matches count: defaulting happens earlier. */
export function prepareMatch(criteria: MatchResources): PreparedMatch {
  const { namespaceSelector, objectSelector, matchPolicy } = criteria;
  return {
    namespaceSelector: namespaceSelector && prepareSelector(namespaceSelector),
    objectSelector: objectSelector && prepareSelector(objectSelector),
    equivalent: matchPolicy !== undefined && matchPolicy !== "Exact",
    rules: (criteria.resourceRules ?? []).map(prepareRule),
    written: criteria.resourceRules ?? [],
    excludes: (criteria.excludeResourceRules ?? []).map(prepareRule),
  };
}

const NO = (reason: string): MatchResult => ({ outcome: "no", reason });
const failed = (message: string): Failed => ({ outcome: "error", message });
const internalError = (message: string): Failed => failed(`Internal error occurred: ${message}`);

/** Whether the request meets the criteria. */
export function matchRequest(match: PreparedMatch, request: RequestAttributes, world: Lookups): MatchResult {
  const { namespaceSelector, objectSelector, equivalent } = match;
  if (namespaceSelector === undefined) return nilSelector("namespace");
  if (objectSelector === undefined) return nilSelector("object");

  const inNamespace = namespaceMatches(namespaceSelector, request, world);
  if (inNamespace === false) return NO("the namespace's labels do not match the namespace selector");
  const ofObject = objectMatches(objectSelector, request);
  if (ofObject === false) return NO("the object's labels do not match the object selector");

  const excluded = matchRules(match.excludes, equivalent, request, world);
  if (!(excluded instanceof Waiting)) {
    if (excluded.outcome === "match") return NO("an exclude rule matches");
    if (excluded.outcome === "error") return excluded;
  }
  const matched: ReturnType<typeof matchRules> =
    match.rules.length === 0
      ? { outcome: "match", resource: request.resource, kind: request.kind }
      : matchRules(match.rules, equivalent, request, world);
  if (!(matched instanceof Waiting) && matched.outcome === "no") return NO("no resource rule matches");
  // A failed look-up only matters for requests that match everything else.
  if (excluded instanceof Waiting) return excluded;
  if (excluded.outcome === "unknown") return failed(excluded.message);
  if (matched instanceof Waiting) return matched;
  if (matched.outcome !== "match") return failed(matched.message);
  if (inNamespace !== true) return inNamespace;
  if (ofObject !== true) return ofObject;
  return matched;
}

/** Whether the namespace selector alone leaves out all objects in a Namespace with these labels. */
export const leavesOutNamespace = (
  { namespaceSelector, objectSelector }: PreparedMatch,
  labels: Readonly<Record<string, string>>,
): boolean => objectSelector !== undefined && namespaceSelector !== undefined && isLeftOut(namespaceSelector, labels);

const nilSelector = (which: string): Failed =>
  failed(`a nil ${which} selector was passed, please ensure selectors are initialized properly`);

/** Yes, no, or an error to report. */
function namespaceMatches(
  selector: PreparedSelector,
  request: RequestAttributes,
  world: Lookups,
): boolean | Failed | Waiting {
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
  if (namespace === undefined) return failed(namespaceNotFound(request.namespace));
  return selector.matches(labelsOf(namespace));
}

/** The API server's words for a Namespace that does not exist. */
export const namespaceNotFound = (name: string): string => `namespaces "${name}" not found`;

function objectMatches(selector: PreparedSelector, request: RequestAttributes): boolean | Failed {
  if (selector.error !== undefined) return internalError(selector.error);
  if (selector.empty) return true;
  if (!hasMetadata(request)) return false;
  return (
    (request.object !== undefined && selector.matches(labelsOf(request.object))) ||
    (request.oldObject !== undefined && selector.matches(labelsOf(request.oldObject)))
  );
}
