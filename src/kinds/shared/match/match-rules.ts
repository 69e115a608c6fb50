/** Matches resource rules against a request, in its own version and in equivalent ones (spec validating-admission-policy.md 3.3). */
import { Waiting } from "../../../cel/index.js";
import {
  apiVersionOf,
  type GroupVersionKind,
  type GroupVersionResource,
  sameResource,
} from "../../../kubernetes/names.js";
import { groupsSharing, SomeEquivalents } from "../../../kubernetes/shared-storage.js";
import type { RequestWorld } from "../../../world/request-world.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { RequestAttributes } from "./request-attributes.js";
import {
  nameMatches,
  type PreparedRule,
  ruleMatches,
  ruleMatchesSomeVersion,
  ruleNamesGroup,
  ruleNamesOutright,
} from "./resource-rule.js";

/** The resource and kind by which the request matches. */
export interface Matched {
  readonly outcome: "match";
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** A failure that the API server would have, too. */
export interface Failed {
  readonly outcome: "error";
  readonly message: string;
}

/** The result of rules; `unknown`: whether one matches cannot be found out here. */
export type RuleMatch =
  | Matched
  | Failed
  | { readonly outcome: "no" }
  | { readonly outcome: "unknown"; readonly message: string }
  | Waiting;

const NO: RuleMatch = { outcome: "no" };

/** The first rule that holds: for the resource as it was sent or as it was addressed, then, where allowed, for its equivalents. */
export function matchRules(
  rules: readonly PreparedRule[],
  equivalent: boolean,
  request: RequestAttributes,
  world: Pick<RequestWorld, "equivalents">,
): RuleMatch {
  // Most lists of excluded rules are empty.
  if (rules.length === 0) return NO;
  const { resource, kind, converted } = request;
  // The resource that the API server has converted to is an equivalent, even if it is not known here, and the request has its objects.
  if (equivalent && converted !== undefined && holdsFor(rules, request, converted.resource)) {
    return { outcome: "match", ...converted };
  }
  if (holdsFor(rules, request, resource)) return { outcome: "match", resource, kind };
  if (!equivalent) return NO;

  const groups = groupsSharing(resource.group, resource.resource);
  const open = rules.filter((rule) => ruleNamesGroup(rule, groups) && ruleMatchesSomeVersion(rule, request, resource));
  // Other requests must not depend on the known versions.
  if (open.length === 0) return NO;
  const equivalents = world.equivalents(resource, request.subresource);
  if (equivalents instanceof Waiting) return equivalents;
  if (equivalents === undefined || equivalents instanceof LookupFailure) {
    return unknownTo(open, request, equivalents);
  }
  const known = equivalents instanceof SomeEquivalents ? equivalents.resources : equivalents;
  for (const rule of open) {
    for (const other of known) {
      if (sameResource(other.resource, resource) || !ruleMatches(rule, request, other.resource)) continue;
      if (other.kind === undefined) {
        const { group, version } = other.resource;
        const message = `unable to convert to ${group}/${version}, Resource=${other.resource.resource}: unknown kind`;
        return { outcome: "error", message };
      }
      if (nameMatches(rule, request.name)) return { outcome: "match", resource: other.resource, kind: other.kind };
    }
  }
  if (!(equivalents instanceof SomeEquivalents)) return NO;
  // The remaining rules name no known version. A rule for any group or resource in some version does not mean that this one has it.
  return unknownTo(
    open.filter((rule) => ruleNamesOutright(rule, resource)),
    request,
  );
}

/** Whether the rules hold for the request in a version that is not known here. */
function unknownTo(rules: readonly PreparedRule[], request: RequestAttributes, failure?: LookupFailure): RuleMatch {
  const named = rules.find((rule) => nameMatches(rule, request.name));
  return named === undefined ? NO : { outcome: "unknown", message: failure?.message ?? cannotTell(request, named) };
}

function holdsFor(rules: readonly PreparedRule[], request: RequestAttributes, resource: GroupVersionResource): boolean {
  for (const rule of rules) if (ruleMatches(rule, request, resource) && nameMatches(rule, request.name)) return true;
  return false;
}

function cannotTell({ resource, subresource }: RequestAttributes, rule: PreparedRule): string {
  const name = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
  const versions = rule.versions === "*" ? ["*"] : [...rule.versions];
  const named = versions.map((version) => apiVersionOf({ group: resource.group, version })).join(" or ");
  return (
    `cannot tell whether ${apiVersionOf(resource)} ${name} are the same objects as ${named}: ` +
    "give the CustomResourceDefinition beside the policy or run with a cluster that serves them"
  );
}
