/**
 * Derives webhooks from the demands of policies. Policies with equal demands share one, so that a hundred of them cost one call; mutating ones share it also
 * where only their operations and conditions differ, and are evaluated in one pass.
 */
import { createHash } from "node:crypto";
import type { PolicySetRoute } from "../../config/from-cluster/cluster-document.js";
import { compareNames } from "../../kubernetes/names.js";
import { EVERYBODY, setId } from "../../policy/served/served-set.js";
import { OWN_DOMAIN } from "./admission-policy-demand.js";
import type { AskedPolicy, Demand } from "./demand.js";
import type { DerivedWebhook, WebhookProblem } from "./derived-webhook.js";
import { type ExemptNamespaces, excludedNamespaces, ownCondition, unaskedNamespace } from "./exclusions.js";
import { withOwn } from "./portable-conditions.js";
import { allOf, insideOf, outsideOf } from "./selectors.js";
import { ruleAdvice } from "./unasked.js";

/** The contents of a policy's webhook. */
type WebhookDemand = Omit<Demand, "named"> & Pick<DerivedWebhook, "leastConditions">;

/** Options of the derivation. */
export interface DeriveOptions {
  /** The server's namespace, which webhooks leave out. */
  readonly ownNamespace: string;
  /** Default none. */
  readonly exemptNamespaces?: ExemptNamespaces;
  /** Whether the webhooks are static manifests; default no. */
  readonly isStatic?: boolean;
}

/** The derived webhooks and sets. */
export interface DerivedWebhooks {
  /** Webhooks by name; for mutating ones that is the order in which the API server calls them. */
  readonly webhooks: readonly DerivedWebhook[];
  /** Sets by hash; with all policies that share webhooks as {@link EVERYBODY}. */
  readonly sets: readonly PolicySetRoute[];
  readonly problems: readonly WebhookProblem[];
  /** Advice about rules of policies that have webhooks, in whatever version of Kubernetes. */
  readonly advice: readonly WebhookProblem[];
}

/** Webhooks for policies. Equal policies in any order give equal webhooks. */
export function webhooksFor(policies: Iterable<AskedPolicy>, options: DeriveOptions): DerivedWebhooks {
  const problems: WebhookProblem[] = [];
  const advice: WebhookProblem[] = [];
  const alone: DerivedWebhook[] = [];
  const shared = new Map<string, { readonly demand: WebhookDemand; readonly ids: string[] }>();
  const passes = new Map<string, Pass>();
  for (const policy of policies) {
    const demand = askable(policy, options, problems);
    if (demand === undefined) continue;
    const told = ruleAdvice(policy, options);
    if (told !== undefined) advice.push({ id: policy.id, text: told.text });
    if (!policy.shares) {
      alone.push(single(policy, demand));
      continue;
    }
    if (policy.mutating) {
      const { reinvocation = "Never" } = policy;
      const { matchConditions: _, leastConditions: __, ...rest } = demand;
      const rules = new Set(demand.rules.map((rule) => JSON.stringify({ ...rule, operations: [] })));
      const key = JSON.stringify({ ...rest, reinvocation, rules: [...rules].sort(compareNames) });
      const pass = passes.get(key);
      if (pass === undefined) passes.set(key, { key, reinvocation, demands: [demand], ids: [policy.id] });
      else {
        pass.ids.push(policy.id);
        pass.demands.push(demand);
      }
      continue;
    }
    const key = JSON.stringify(demand);
    const group = shared.get(key);
    if (group === undefined) shared.set(key, { demand, ids: [policy.id] });
    else group.ids.push(policy.id);
  }
  const sets: PolicySetRoute[] = [];
  const sharing: string[] = [];
  const together = [...shared.values()].map(({ demand, ids }) => {
    const [id = "", ...others] = ids;
    sharing.push(...ids);
    if (others.length === 0) return single({ id, domain: OWN_DOMAIN, mutating: false }, demand);
    const set = routeOf(ids);
    sets.push(set);
    const name = `set-${set.hash}.${OWN_DOMAIN}`;
    return { type: "validating" as const, name, path: setPath(set.hash), ...demand, members: set.members };
  });
  const mutating = [...passes.values()].map((pass) => passWebhook(pass));
  sets.push(...mutating.map(({ hash, members }) => ({ hash, members, mutates: true as const })));
  if (sharing.length > 0) sets.push({ hash: EVERYBODY, members: sharing.sort(compareNames) });
  return {
    webhooks: [...alone, ...together, ...mutating.map(({ webhook }) => webhook)].sort(
      (a, b) => compareNames(a.type, b.type) || compareNames(a.name, b.name),
    ),
    sets: sets.sort((a, b) => compareNames(a.hash, b.hash)),
    problems,
    advice,
  };
}

/** Mutating policies that are evaluated in one pass. */
interface Pass {
  /** The part of their demands that is the same. */
  readonly key: string;
  readonly reinvocation: "Never" | "IfNeeded";
  readonly demands: WebhookDemand[];
  readonly ids: string[];
}

/**
 * The place of a webhook among those of MutatingAdmissionPolicies. Those with object selectors come first: the API server's plugin selects by the object as it
 * came. Those that are called again come last: then there is less that has them called again.
 */
const stepOf = ({ objectSelector }: WebhookDemand, reinvocation: Pass["reinvocation"]): number =>
  Object.keys(objectSelector).length > 0 ? 1 : reinvocation === "Never" ? 2 : 3;

/**
 * The webhook of a pass: it asks about what any of its policies demands. Its path stays the same whatever policies come and go, and by its name it is called before
 * webhooks of other policies, as the API server's own plugin is.
 */
function passWebhook({ key, reinvocation, demands, ids }: Pass) {
  const [first, ...others] = demands as [WebhookDemand, ...WebhookDemand[]];
  const written = others.map((demand) => new Set(demand.matchConditions.map((each) => JSON.stringify(each))));
  const matchConditions = first.matchConditions.filter((each) => written.every((set) => set.has(JSON.stringify(each))));
  const rules = new Map(demands.flatMap(({ rules }) => rules.map((rule) => [JSON.stringify(rule), rule])));
  const { leastConditions: least, ...demand } = first;
  const hash = `m${digest(key).slice(0, HASH_DIGITS - 1)}`;
  const members = ids.sort(compareNames);
  const webhook: DerivedWebhook = {
    ...demand,
    type: "mutating",
    name: `admission-policies-${stepOf(first, reinvocation)}.${hash}.${OWN_DOMAIN}`,
    path: setPath(hash),
    rules: [...rules].sort(([a], [b]) => compareNames(a, b)).map(([, rule]) => rule),
    matchConditions,
    ...(least !== undefined && matchConditions.length > 0 && { leastConditions: least }),
    reinvocation,
    inOnePass: true,
    members,
  };
  return { hash, members, webhook };
}

/** The path of a set. Every part of it is a name, because the API server accepts only those in the path of a Service. */
export const setPath = (hash: string): string => `/validate/${setId(hash)}`;

/** Hexadecimal digits of a set's hash. */
const HASH_DIGITS = 16;

/** The set of some policies. */
export function routeOf(ids: readonly string[]): PolicySetRoute {
  const members = [...new Set(ids)].sort(compareNames);
  // No id has a line break.
  return { hash: digest(members.join("\n")).slice(0, HASH_DIGITS), members };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

function single(
  { id, domain, mutating, reinvocation }: Pick<AskedPolicy, "id" | "domain" | "mutating" | "reinvocation">,
  demand: WebhookDemand,
): DerivedWebhook {
  return {
    type: mutating ? "mutating" : "validating",
    name: webhookName(id, domain),
    path: `/validate/${encodeURIComponent(id)}`,
    ...demand,
    ...(mutating && reinvocation && { reinvocation }),
    members: [id],
  };
}

/** Longest name of a webhook (the API server's own limit). */
const LONGEST_NAME = 253;

/** The form of ids that can be part of webhooks' names; ids of a file may have other characters. */
const NAMEABLE = /^[a-z0-9.-]+$/;

function webhookName(id: string, domain: string): string {
  const name = `${id}.${domain}`;
  if (name.length <= LONGEST_NAME && NAMEABLE.test(name)) return name;
  const plain = id.toLowerCase().replace(/[^a-z0-9.-]/g, "-");
  const end = `-${digest(id).slice(0, HASH_DIGITS)}.${domain}`;
  const start = plain.slice(0, LONGEST_NAME - end.length).replace(/^[.-]+|[.-]+$/g, "");
  return `${start === "" ? "policy" : start}${end}`;
}

/** The contents of its webhook, without resources that no webhook covers; `undefined` where nothing is left. */
function askable(
  policy: AskedPolicy,
  { ownNamespace, exemptNamespaces = [] }: DeriveOptions,
  problems: WebhookProblem[],
): WebhookDemand | undefined {
  const { id, namespace } = policy;
  const { named: _, ...demand } = policy.demand;
  const problem = (text: string): undefined => {
    problems.push({ id, text });
    return undefined;
  };
  if (demand.rules.length === 0) return problem("has no rule that matches anything: it is not asked");
  const excluded = excludedNamespaces(ownNamespace, exemptNamespaces, policy);
  const unasked = unaskedNamespace(ownNamespace, exemptNamespaces, policy);
  if (unasked !== undefined) return problem(`is about the namespace ${unasked}, which no webhook asks about`);
  const inNamespaces = namespace === undefined ? outsideOf(excluded) : insideOf(namespace);
  const own = ownCondition(policy, exemptNamespaces);
  const matchConditions = withOwn(own, demand.matchConditions);
  if (matchConditions === undefined)
    return problem("has so many match conditions that ours needs room in one of them, and none can be read");
  return {
    ...demand,
    namespaceSelector: allOf(demand.namespaceSelector, inNamespaces),
    objectSelector: allOf(demand.objectSelector),
    matchConditions,
    ...(policy.shares && demand.matchConditions.length > 0 && { leastConditions: own === undefined ? [] : [own] }),
  };
}
