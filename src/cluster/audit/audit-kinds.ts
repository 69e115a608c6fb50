/** Finds the kinds of a cluster that policies match, each with those policies. */
import type { Cluster } from "../../kubernetes/client/index.js";
import { apiRoot } from "../../kubernetes/client/paths.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { member, text } from "../../kubernetes/object.js";
import type { AuditedPolicy } from "./audited-policy.js";
import { ruleNames, ruleNamesGroup, ruleNamesVersion } from "./target-rules.js";

/** A kind to be listed, in one of its versions. */
export interface AuditedKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Policies that match it, in the order of the configuration. */
  readonly policies: readonly AuditedPolicy[];
}

/** The kinds to be listed, and problems of finding them. */
export interface AuditedKinds {
  readonly kinds: readonly AuditedKind[];
  readonly problems: readonly string[];
}

/** The used part of a cluster's client. */
export type AuditCluster = Pick<Cluster, "http" | "signal">;

/** Groups whose objects are evaluated only if a rule names them: reports would be evaluated for their content, events and leases change every second. */
const ONLY_BY_NAME: ReadonlySet<string> = new Set([
  "events.k8s.io",
  "coordination.k8s.io",
  "openreports.io",
  "wgpolicyk8s.io",
  "reports.kyverno.io",
]);
/** The same of the core group. */
const CORE_ONLY_BY_NAME: ReadonlySet<string> = new Set(["events"]);

/**
 * Discovers the kinds. Each kind is listed once, in the version that the cluster prefers among those that rules name: an object is stored once, and
 * is evaluated once, whatever versions rules name. A group that does not answer is a problem and hinders no other.
 * @param namespace the only namespace of objects; `""`: all, and cluster-scoped objects
 */
export async function auditedKinds(
  cluster: AuditCluster,
  policies: readonly AuditedPolicy[],
  namespace: string,
): Promise<AuditedKinds> {
  const found = new Map<string, AuditedKind>();
  const problems: string[] = [];
  const rules = policies.flatMap((policy) => policy.rules);
  for (const version of await versionsOf(cluster, problems)) {
    if (!rules.some((rule) => ruleNamesGroup(rule, version.group))) continue;
    for (const kind of await kindsOf(cluster, version, problems)) {
      const key = `${kind.group}/${kind.plural}`;
      if (found.has(key) || (namespace !== "" && !kind.namespaced)) continue;
      const byName = isOnlyByName(kind);
      const own = policies.filter((policy) => isFor(policy, kind, byName));
      const named = own.some((policy) =>
        policy.rules.some((rule) => ruleNames(rule, kind, byName) && ruleNamesVersion(rule, kind)),
      );
      if (named) found.set(key, { ...kind, policies: own });
    }
  }
  return { kinds: [...found.values()], problems };
}

/** Whether a policy may match objects of a kind; one of a namespace does not match cluster-scoped ones. */
const isFor = (policy: AuditedPolicy, kind: Listable, byName: boolean): boolean =>
  (policy.namespace === "" || kind.namespaced) && policy.rules.some((rule) => ruleNames(rule, kind, byName));

const isOnlyByName = ({ group, plural }: Listable): boolean =>
  group === "" ? CORE_ONLY_BY_NAME.has(plural) : ONLY_BY_NAME.has(group);

type Listable = Omit<AuditedKind, "policies">;

interface Version {
  readonly group: string;
  readonly version: string;
}

/** All versions of all groups; of each group the preferred one first. */
async function versionsOf(cluster: AuditCluster, problems: string[]): Promise<readonly Version[]> {
  const groups = listOf(member(await read(cluster, "/apis", problems), "groups"));
  const versions = groups.flatMap((group) => {
    const preferred = text(member(group, "preferredVersion"), "groupVersion");
    return [preferred, ...listOf(member(group, "versions")).map((each) => text(each, "groupVersion"))];
  });
  const known = [...new Set(versions)].flatMap((version) => parseApiVersion(version) ?? []);
  return [{ group: "", version: "v1" }, ...known.filter(({ group }) => group !== "")];
}

async function kindsOf(cluster: AuditCluster, version: Version, problems: string[]): Promise<readonly Listable[]> {
  return listOf(member(await read(cluster, apiRoot(version), problems), "resources")).flatMap((resource) => {
    const plural = text(resource, "name");
    if (plural.includes("/") || !listOf(member(resource, "verbs")).includes("list")) return [];
    return [{ ...version, plural, kind: text(resource, "kind"), namespaced: member(resource, "namespaced") === true }];
  });
}

async function read(cluster: AuditCluster, path: string, problems: string[]): Promise<unknown> {
  try {
    return (await cluster.http.get(path, {}, cluster.signal)).value;
  } catch (error) {
    problems.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
