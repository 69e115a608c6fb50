/** The requests that no webhook covers: denying them could prevent the cluster, or this server, from recovering. */
import type { ResourceRule } from "../../kinds/shared/match/resource-rule.js";
import { groupsSharing } from "../../kubernetes/shared-storage.js";
import { Wildcard } from "../../kubernetes/wildcard.js";
import { isOfPolicies, WATCHED_KINDS } from "../sources/watched-kinds.js";
import type { AskedPolicy, Demand, MatchCondition, NamedRule, WebhookRule } from "./demand.js";
import { mayMatch, parts, webhookRules } from "./rules.js";

/** The namespace of the cluster's own parts. */
const SYSTEM_NAMESPACE = "kube-system";

/** A resource that no wildcard covers: only a rule with its group and its name does. */
export interface UnaskedResource {
  readonly group: string;
  readonly resource: string;
  /** The meant subresources, `""` for the resource itself; absent: all. */
  readonly subresources?: readonly string[];
  /** `never`: Kubernetes asks no webhook about it. `review`: of authentication or authorization; Kubernetes asks no webhook about it since 1.37. */
  readonly kind?: "never" | "review";
  /** Whether webhooks of ValidatingAdmissionPolicies leave it out, too, which else decide as the API server itself does. */
  readonly alsoOfAdmissionPolicies?: true;
  /** The work that a denial of it stops, or a server that does not answer. */
  readonly stops: string;
}

const ADMISSION = "admissionregistration.k8s.io";

type Rest = Omit<UnaskedResource, "group" | "resource">;
const each = (group: string, resources: string, rest: Rest): readonly UnaskedResource[] =>
  resources.split(" ").map((resource) => ({ group, resource, ...rest }));

const REPORTS: Rest = { alsoOfAdmissionPolicies: true, stops: "reports of audits" };
const REVIEWS: Rest = { kind: "review", alsoOfAdmissionPolicies: true, stops: "logins, and questions about rights" };

/** The resources, in the order of docs/cluster.md. */
export const UNASKED: readonly UnaskedResource[] = [
  ...WATCHED_KINDS.filter(({ group }) => group !== ADMISSION).map((watched) => ({
    group: watched.group,
    resource: watched.plural,
    stops: isOfPolicies(watched) ? "changes of policies, and their deletion" : "changes of what policies use",
  })),
  ...each(
    ADMISSION,
    "validatingwebhookconfigurations mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings mutatingadmissionpolicies mutatingadmissionpolicybindings",
    { kind: "never", stops: "changes of admission policies and webhook configurations, and their deletion" },
  ),
  ...each("coordination.k8s.io", "leases leasecandidates", {
    alsoOfAdmissionPolicies: true,
    stops: "elections of leaders, and signs of life of Nodes",
  }),
  ...each("openreports.io", "clusterreports reports", REPORTS),
  ...each("wgpolicyk8s.io", "clusterpolicyreports policyreports", REPORTS),
  ...each("", "events", { stops: "Events of the cluster's parts" }),
  ...each("events.k8s.io", "events", { stops: "Events of the cluster's parts" }),
  ...each("", "nodes", { subresources: ["", "status"], stops: "Nodes that join or report their state" }),
  ...each("storage.k8s.io", "csinodes", { stops: "Nodes that join" }),
  ...each("certificates.k8s.io", "certificatesigningrequests", { stops: "certificates of Nodes" }),
  ...each("authentication.k8s.io", "tokenreviews selfsubjectreviews", REVIEWS),
  ...each(
    "authorization.k8s.io",
    "subjectaccessreviews selfsubjectaccessreviews localsubjectaccessreviews selfsubjectrulesreviews",
    REVIEWS,
  ),
];

/** The resources that wildcards of a policy do not cover. */
export const unaskedFor = ({ isAdmissionPolicy }: AskedPolicy): readonly UnaskedResource[] =>
  isAdmissionPolicy === true ? UNASKED.filter((each) => each.alsoOfAdmissionPolicies || each.kind) : UNASKED;

/** Whether a policy is not asked about reviews even where a rule names them: its own question about rights would be the next one. */
export const wouldAskItself = ({ kind }: UnaskedResource, { asksAboutRights }: AskedPolicy): boolean =>
  kind === "review" && asksAboutRights === true;

/** Selects the rules that name an unasked resource with its group; the names of objects are kept. */
export function rulesByName(rules: readonly ResourceRule[]): readonly NamedRule[] {
  return rules.flatMap((rule): readonly NamedRule[] => {
    const apiGroups = (rule.apiGroups ?? []).filter((group) => group !== "*");
    const resources = (rule.resources ?? []).filter((word) => parts(word)[0] !== "*");
    const [made] = webhookRules([{ ...rule, apiGroups, resources }]);
    if (made === undefined || !UNASKED.some(({ group, resource }) => mayMatch([made], group, resource))) return [];
    return [{ ...made, resourceNames: rule.resourceNames ?? [] }];
  });
}

/** The namespaces that an operator exempts: names, and patterns with `*`. */
export type ExemptNamespaces = readonly string[];

const isPattern = (name: string): boolean => name.includes("*");

/** Whether all webhooks leave out a namespace. */
export const isExempt = (exempt: ExemptNamespaces, namespace: string): boolean =>
  namespace === SYSTEM_NAMESPACE || exempt.some((pattern) => new Wildcard(pattern).matches(namespace));

/** The namespaces that a policy's webhook leaves out by a selector, sorted; patterns stand in its condition. */
export function excludedNamespaces(own: string, exempt: ExemptNamespaces, { insideOwnNamespace }: AskedPolicy) {
  const ours = insideOwnNamespace === true ? [] : [own];
  return [...new Set([SYSTEM_NAMESPACE, ...ours, ...exempt.filter((name) => !isPattern(name))])].sort();
}

/** The namespace of a policy that no webhook asks about; undefined: it has none, or is asked about it. */
export const unaskedNamespace = (ownNamespace: string, exempt: ExemptNamespaces, policy: AskedPolicy) => {
  const { namespace = "", insideOwnNamespace } = policy;
  const isOwn = namespace === ownNamespace && insideOwnNamespace !== true;
  return namespace !== "" && (isOwn || isExempt(exempt, namespace)) ? namespace : undefined;
};

/** The patterns as one of RE2. */
const patternOf = (exempt: ExemptNamespaces): string => exempt.filter(isPattern).join("|").replace(/\*+/g, ".*");

/** The name of our condition. */
const OWN = "policy-server.admission/asked-about";

/** Whether a condition is ours. */
export const isOwnCondition = ({ name }: MatchCondition): boolean => name === OWN;

/** The condition of a policy's webhook beside the policy's own; it never fails. */
export function ownCondition(policy: AskedPolicy, exempt: ExemptNamespaces): MatchCondition | undefined {
  const { namespace } = policy;
  const patterns = patternOf(exempt);
  const terms = [
    ...resourceTerms(policy),
    // Selectors of namespaces do not apply to cluster-scoped objects.
    ...(namespace === undefined ? [] : [`${HAS_NAMESPACE} && request.namespace == ${JSON.stringify(namespace)}`]),
    ...(patterns === ""
      ? []
      : [`!(${HAS_NAMESPACE} && request.namespace.matches(${JSON.stringify(`^(${patterns})$`)}))`]),
  ];
  return terms.length === 0 ? undefined : { name: OWN, expression: all(terms) };
}

const HAS_NAMESPACE = "has(request.namespace)";
const all = (terms: readonly string[]): string => (terms.length === 1 ? terms.join() : `(${terms.join(") && (")})`);
const oneOf = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;

/** Leaves out the resources that only wildcards cover. */
function resourceTerms(policy: AskedPolicy): readonly string[] {
  const { rules, matchPolicy } = policy.demand;
  const whole: string[] = [];
  const terms: string[] = [];
  for (const entry of unaskedFor(policy)) {
    const { group, resource, subresources } = entry;
    const isRefused = wouldAskItself(entry, policy);
    const groups = groupsOf(entry, matchPolicy);
    const isWildcard = (rule: WebhookRule): boolean => groups.some((each) => isWildcardFor(rule, each, resource));
    if (!(isRefused ? mayMatch(rules, group, resource) : rules.some(isWildcard))) continue;
    const named = isRefused ? [] : namedFor(entry, policy.demand);
    if (named.length === 0 && subresources === undefined) whole.push(`${group}/${resource}`);
    else {
      const is = `request.resource.group == ${JSON.stringify(group)} && request.resource.resource == ${JSON.stringify(resource)}`;
      const [, ...subs] = subresources ?? [];
      const part = subresources && ` && (!has(request.subResource) || request.subResource in ${oneOf(subs)})`;
      terms.push([`!(${is}${part ?? ""})`, ...named.flatMap((rule) => whenNamed(rule, resource))].join(" || "));
    }
  }
  if (whole.length > 0)
    terms.unshift(`!((request.resource.group + "/" + request.resource.resource) in ${oneOf(whole)})`);
  return terms;
}

/** Whether a rule covers a resource by a wildcard: its group or its resource is `*`. */
const isWildcardFor = (rule: WebhookRule, group: string, resource: string): boolean =>
  mayMatch([rule], group, resource) &&
  (rule.apiGroups.includes("*") || rule.resources.some((word) => parts(word)[0] === "*"));

/** The groups of rules that match a resource: with `Equivalent` also its other group. Conditions see the resource as it was asked about. */
const groupsOf = ({ group, resource }: UnaskedResource, matchPolicy: string): readonly string[] =>
  matchPolicy === "Exact" ? [group] : groupsSharing(group, resource);

/** The rules by name for a resource. */
function namedFor(entry: UnaskedResource, { named, matchPolicy }: Demand): readonly NamedRule[] {
  const groups = groupsOf(entry, matchPolicy);
  return named
    .filter((rule) => groups.some((each) => mayMatch([rule], each, entry.resource)))
    .map((rule) => (matchPolicy === "Exact" ? rule : { ...rule, apiVersions: ["*"] }));
}

/** The requests about a resource that a rule names. */
function whenNamed({ apiVersions, operations, resources, scope, resourceNames }: NamedRule, resource: string) {
  const words = resources.map(parts).filter(([name]) => name === resource);
  return words.map(([, subresource]) => {
    const terms = [
      ...(subresource === "" ? ["!has(request.subResource)"] : []),
      ...(subresource === "" || subresource === "*"
        ? []
        : [`has(request.subResource) && request.subResource == ${JSON.stringify(subresource)}`]),
      ...(apiVersions.includes("*") ? [] : [`request.resource.version in ${oneOf(apiVersions)}`]),
      ...(operations.includes("*") ? [] : [`request.operation in ${oneOf(operations)}`]),
      ...(scope === "*" ? [] : [scope === "Cluster" ? `!${HAS_NAMESPACE}` : HAS_NAMESPACE]),
      ...(resourceNames.length === 0 ? [] : [`has(request.name) && request.name in ${oneOf(resourceNames)}`]),
    ];
    return terms.length === 0 ? "true" : `(${terms.join(" && ")})`;
  });
}
