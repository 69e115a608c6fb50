/** Match constraints against a request (spec kyverno.md 2.2): the version must be named literally, and an absent object has no labels. */
import { Waiting } from "../../../cel/index.js";
import { isObject, labelsOf, member } from "../../../kubernetes/object.js";
import type { RequestWorld } from "../../../world/request-world.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { PreparedSelector } from "../../shared/match/label-selector.js";
import type { PreparedMatch } from "../../shared/match/match-resources.js";
import type { RequestAttributes } from "../../shared/match/request-attributes.js";
import { nameMatches, type PreparedRule, ruleMatches } from "../../shared/match/resource-rule.js";

/** Whether the constraints match; a text says why nobody can tell. */
export type MatchResult = boolean | { readonly error: string } | Waiting;

/** The label that every Namespace has: all that is known of one that cannot be found. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** Matches a request. `undefined` constraints match nothing. */
export function matchConstraints(
  match: PreparedMatch | undefined,
  request: RequestAttributes,
  world: Pick<RequestWorld, "namespace">,
): MatchResult {
  if (match?.namespaceSelector === undefined || match.objectSelector === undefined) return false;
  // Rules come before what has to be looked up: the order makes no difference to the answer, since selectors' errors count last.
  if (match.excludes.some((rule) => ruleHolds(rule, request))) return false;
  if (match.rules.length > 0 && !match.rules.some((rule) => ruleHolds(rule, request))) return false;
  const ofObject = objectMatches(match.objectSelector, request);
  if (ofObject === false) return false;
  const inNamespace = namespaceMatches(match.namespaceSelector, request, world);
  return inNamespace === true ? ofObject : inNamespace;
}

function ruleHolds(rule: PreparedRule, request: RequestAttributes): boolean {
  if (!ruleMatches(rule, request, request.resource)) return false;
  if (request.name !== "" || rule.names.length === 0) return nameMatches(rule, request.name);
  const metadata = isObject(request.object) ? member(request.object, "metadata") : undefined;
  const generated = isObject(metadata) ? member(metadata, "generateName") : undefined;
  const prefix = typeof generated === "string" ? generated : "";
  return rule.names.some((name) => prefix.startsWith(name));
}

const internalError = (message: string): MatchResult => ({ error: `Internal error occurred: ${message}` });

function objectMatches(
  selector: PreparedSelector,
  { object, oldObject }: RequestAttributes,
): Exclude<MatchResult, Waiting> {
  if (selector.error !== undefined) return internalError(selector.error) as { error: string };
  return selector.empty || selector.matches(labelsOf(object)) || selector.matches(labelsOf(oldObject));
}

function namespaceMatches(
  selector: PreparedSelector,
  { namespace: name, resource, subresource, operation, object }: RequestAttributes,
  world: Pick<RequestWorld, "namespace">,
): MatchResult {
  const isNamespace = resource.resource === "namespaces";
  if (name === "" && !isNamespace) return true;
  if (selector.error !== undefined) return internalError(selector.error);
  if (selector.empty) return true;
  if (isNamespace && subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return selector.matches(labelsOf(object));
  }
  const namespace = name === "" ? undefined : world.namespace(name);
  if (namespace instanceof Waiting) return namespace;
  // The reference goes on without the Namespace, and so without its labels: a missing look-up must not decide that a policy does not apply.
  if (namespace instanceof LookupFailure) return internalError(namespace.message);
  return selector.matches(namespace === undefined ? { [NAME_LABEL]: name } : labelsOf(namespace));
}
