/** Tells which of its rules a policy is never asked about, and which rules name what a denial of could lock a cluster. */
import { exemption } from "../../kinds/shared/match/exempt.js";
import { builtinKinds, builtinScope, pluralOf } from "../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import type { AskedPolicy, WebhookRule } from "./demand.js";
import {
  type ExemptNamespaces,
  UNASKED,
  type UnaskedResource,
  unaskedFor,
  unaskedNamespace,
  wouldAskItself,
} from "./exclusions.js";
import { parts } from "./rules.js";

/** The known facts about an API server. */
export interface ServerFacts {
  /** Its minor version, such as `1.37`; the lowest of several; absent: unknown. */
  readonly release?: string | undefined;
  /** Whether some group has a resource of this name that is not left out; absent: unknown. */
  readonly isElsewhere?: (resource: string) => boolean;
  /** Whether it evaluates ValidatingAdmissionPolicies by itself, so that no webhook asks about them; default no. */
  readonly evaluatesAdmissionPolicies?: boolean;
  /** The server's namespace; absent: unknown. */
  readonly ownNamespace?: string;
  readonly exemptNamespaces?: ExemptNamespaces;
  /** Whether its webhooks are static manifests, which Kubernetes asks about more; default no. */
  readonly isStatic?: boolean;
}

/** Advice about the rules of a policy, for its author. */
export interface RuleAdvice {
  /** Whether no request is ever asked about. */
  readonly isNeverAsked: boolean;
  /** Whether a rule names what a denial of could lock a cluster. */
  readonly isDangerous?: boolean;
  readonly text: string;
}

/** Whether Kubernetes of a version asks no webhook about authentication and authorization reviews. */
const leavesOutReviews = (release = "1.0"): boolean => Number(release.split(".")[1]) >= 37;

/** Resources of groups that Kubernetes brings: whether their objects live in namespaces. */
const BUILTIN: ReadonlyMap<string, ReadonlyMap<string, boolean>> = (() => {
  const groups = new Map<string, Map<string, boolean>>();
  for (const { apiVersion, kind } of builtinKinds()) {
    const group = parseApiVersion(apiVersion)?.group ?? "";
    const own = groups.get(group) ?? new Map<string, boolean>();
    groups.set(group, own.set(pluralOf(kind), builtinScope({ group, kind }) ?? true));
  }
  return groups;
})();

const never = (why: string): RuleAdvice => ({ isNeverAsked: true, text: `it is never asked: ${why}` });

/** Advice about a policy's rules; undefined: it is asked about all of them, and none is dangerous. */
export function ruleAdvice(policy: AskedPolicy, server: ServerFacts): RuleAdvice | undefined {
  const namespace = unaskedNamespace(server.ownNamespace ?? "", server.exemptNamespaces ?? [], policy);
  if (namespace !== undefined) return never(`no webhook asks about the namespace ${namespace}, where it is`);
  const reader = new RuleReader(policy, server);
  for (const rule of policy.demand.rules) reader.read(rule);
  const { unasked, warnings, isAsked } = reader;
  const reasons = Array.from(unasked, ([reason, names]) => `${[...names].join(", ")}: ${reason}`).join("; ");
  if (!isAsked) return never(reasons || "it has no rule that matches anything");
  const texts = [...(reasons === "" ? [] : [`some rules are never asked about: ${reasons}`]), ...warnings];
  return texts.length === 0
    ? undefined
    : { isNeverAsked: false, isDangerous: warnings.size > 0, text: texts.join("; ") };
}

/** The result of a word of a rule; `unknown`: its group has no such resource. */
type Found = "asked" | "unasked" | "unknown";

/** Reads the rules of a policy, each group with each resource. */
class RuleReader {
  /** Names of resources by the reason why nothing is asked about them. */
  readonly unasked = new Map<string, Set<string>>();
  readonly warnings = new Set<string>();
  isAsked = false;
  readonly #policy: AskedPolicy;
  readonly #server: ServerFacts;
  readonly #unasked: readonly UnaskedResource[];

  constructor(policy: AskedPolicy, server: ServerFacts) {
    this.#policy = policy;
    this.#server = server;
    const byItself = policy.isAdmissionPolicy === true && server.evaluatesAdmissionPolicies === true;
    this.#unasked = byItself ? UNASKED.filter(({ kind }) => kind !== undefined) : unaskedFor(policy);
  }

  read(rule: WebhookRule): void {
    const found = rule.apiGroups.flatMap((group) => rule.resources.map((word) => this.#read(rule, group, word)));
    if (found.includes("asked") || !found.includes("unasked")) this.isAsked = true;
  }

  #read({ scope }: WebhookRule, group: string, word: string): Found {
    const [resource, subresource] = parts(word);
    const never = (reason: string): Found => {
      const names = this.unasked.get(reason) ?? new Set();
      this.unasked.set(reason, names.add(group === "" ? resource : `${resource}.${group}`));
      return "unasked";
    };
    const isNamespaced = BUILTIN.get(group)?.get(resource);
    if (isNamespaced !== undefined && scope === (isNamespaced ? "Cluster" : "Namespaced"))
      return never(`its objects do not have the scope ${scope} of the rule`);
    // A request about a Namespace counts as one inside it.
    const isOutside = scope === "Cluster" ? resource !== "*" : isNamespaced === false;
    if (this.#policy.namespace !== undefined && isOutside && resource !== "namespaces")
      return never("it is not in the policy's namespace");
    if (resource === "*") return this.#wholeGroup(group, never);
    const left = this.#unasked.filter((each) => each.resource === resource && isMeant(each, subresource));
    if (group === "*") {
      const isElsewhere = subresource === "*" || (this.#server.isElsewhere?.(resource) ?? true);
      if (left.length > 0) never(WILDCARD);
      return left.length === 0 || isElsewhere ? "asked" : "unasked";
    }
    const entry = left.find((each) => each.group === group);
    if (entry !== undefined) return this.#named(entry, never);
    return BUILTIN.has(group) && isNamespaced === undefined ? "unknown" : "asked";
  }

  #named(entry: UnaskedResource, never: (reason: string) => Found): Found {
    const { kind, group, resource, stops } = entry;
    const why = this.#byKubernetes(entry);
    if (why !== undefined) return never(why);
    if (wouldAskItself(entry, this.#policy)) return never(RECURSION);
    const newer = kind === "review" && this.#server.release === undefined ? `${REVIEWS}; an older one does: ` : "";
    const name = group === "" ? resource : `${resource}.${group}`;
    this.warnings.add(`names ${name}: ${newer}a denial, or no replica that answers, stops ${stops}`);
    return "asked";
  }

  /** Why Kubernetes asks no webhook about a resource; undefined: it does. */
  #byKubernetes({ kind, group, resource }: UnaskedResource): string | undefined {
    if (kind === "never" && this.#server.isStatic !== true) return "Kubernetes asks no webhook about it";
    if (this.#policy.hasExemptions && exemption(group, resource) !== undefined)
      return "policies of this kind never judge it";
    if (kind !== "review") return undefined;
    return leavesOutReviews(this.#server.release)
      ? `${REVIEWS} (feature gate ExcludeAdmissionWebhookVirtualResources)`
      : undefined;
  }

  /** All resources of a group: nothing is asked about where all of them are left out. */
  #wholeGroup(group: string, never: (reason: string) => Found): Found {
    const own = this.#unasked.filter((each) => each.group === group && each.subresources === undefined);
    const names = own.map(({ resource }) => resource);
    const known = [...(BUILTIN.get(group)?.keys() ?? [])].filter((resource) => resource !== "tokenrequests");
    if (own.length === 0 || SHARED_GROUPS.has(group) || !known.every((name) => names.includes(name))) return "asked";
    const [first] = own;
    return never((first && this.#byKubernetes(first)) ?? WILDCARD);
  }
}

/** Groups with more kinds than this server reads. */
const SHARED_GROUPS: ReadonlySet<string> = new Set(["policies.kyverno.io", "kyverno.io"]);

const WILDCARD = "a wildcard does not mean it, since denying it can lock the cluster: name its group and resource";
const REVIEWS = "Kubernetes 1.37 and newer asks no webhook about it";
const RECURSION =
  "the policy may ask about rights, which would ask the policy again: it must do without `authorizer` and kubernetes/can_i";

/** Whether a word of a rule means something that is left out. */
const isMeant = ({ subresources }: UnaskedResource, subresource: string): boolean =>
  subresources === undefined || subresource === "*" || subresources.includes(subresource);
