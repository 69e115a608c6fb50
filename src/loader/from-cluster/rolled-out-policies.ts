/** Loads a cluster's policies, those of a rollout with their versions in shadow. */
import {
  type ClusterDocument,
  type ClusterEntryReader,
  type LoadedPolicyReport,
  parseKey,
  policyIdOf,
  type RolledOut,
  Rollouts,
  shownName,
} from "../../config/from-cluster/index.js";
import { formatPath, type Problem } from "../../config/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { servedAlone } from "../../policy/served/shadow/versions.js";
import type { ClusterPolicies, LoadedClusterPolicies } from "./cluster-policies.js";

/** Loads versions in force and versions in shadow, and keeps them. */
export class RolledOutPolicies {
  readonly #reader: ClusterEntryReader;
  readonly #rollouts = new Rollouts();
  readonly #inForce: ClusterPolicies;
  readonly #open: () => ClusterPolicies;
  /** Policies in shadow, opened for the first version. */
  #inShadow: ClusterPolicies | undefined;
  /** The latest reports of versions in force and in shadow, by key: together they make one. */
  #latest: ReadonlyMap<string, LoadedPolicyReport> = new Map();
  #latestInShadow: ReadonlyMap<string, LoadedPolicyReport> = new Map();

  /** @param open opens policies of a cluster; called twice at most */
  constructor(reader: ClusterEntryReader, open: () => ClusterPolicies) {
    this.#reader = reader;
    this.#open = open;
    this.#inForce = open();
  }

  /**
   * Loads what has changed. Never rejects.
   * @param isTaken whether the configuration has a policy of that id
   * @param isFirst whether nothing was served before
   */
  async load(
    documents: ReadonlyMap<string, ClusterDocument>,
    isTaken: (id: string) => boolean,
    isFirst = false,
  ): Promise<LoadedClusterPolicies> {
    this.#rollouts.update(documents);
    const { rolledOut } = this.#rollouts;
    const inForce = await this.#inForce.load(this.#reader.entries(this.#rollouts.inForce), isTaken, isFirst);
    const shadows = [...rolledOut.values()].some(({ rollout }) => rollout.shadow !== undefined);
    if (!shadows && this.#inShadow === undefined && rolledOut.size === 0) return inForce;
    const inShadow = await this.#loadShadows(isTaken, isFirst);
    const keys = new Set([...inForce.reports, ...inShadow.reports].map(({ key }) => key));
    this.#latest = kept(this.#latest, inForce.reports, documents);
    this.#latestInShadow = kept(this.#latestInShadow, inShadow.reports, rolledOut);
    const mistakes = Array.from(keys, (key) => mistakesOf(rolledOut.get(key))).flat();
    return {
      served: together(inForce.served, inShadow.served, rolledOut),
      reports: [...keys].flatMap((key) => this.#report(key) ?? []),
      problems: [...inForce.problems, ...inShadow.problems, ...mistakes],
      isWaiting: inForce.isWaiting || inShadow.isWaiting,
      taken: () => {
        inForce.taken();
        inShadow.taken();
      },
    };
  }

  /** Makes the next load report all policies, for a new listener. */
  tellAll(): void {
    this.#inForce.tellAll();
    this.#inShadow?.tellAll();
  }

  /** Ends retries of modules. */
  close(): void {
    this.#inForce.close();
    this.#inShadow?.close();
  }

  async #loadShadows(isTaken: (id: string) => boolean, isFirst: boolean): Promise<LoadedClusterPolicies> {
    this.#inShadow ??= this.#open();
    const all = this.#reader.entries(this.#rollouts.inShadow);
    const isShadow = (key: string) => this.#rollouts.rolledOut.get(key)?.rollout.shadow !== undefined;
    const entries = all.entries.filter(({ id, policies }) => !isTaken(id) && policies.some(({ key }) => isShadow(key)));
    return this.#inShadow.load({ ...all, entries }, isTaken, isFirst);
  }

  /** The report on a policy: it is loaded when all its versions are. */
  #report(key: string): LoadedPolicyReport | undefined {
    const rolled = this.#rollouts.rolledOut.get(key);
    const mistakes = mistakesOf(rolled).map(({ path, line, column, message }) => ({
      severity: "error" as const,
      text: `${formatPath(path)} (line ${line}, column ${column}): ${message}`,
    }));
    const shadow = rolled?.rollout.shadow === undefined ? undefined : this.#latestInShadow.get(key);
    const active = rolled !== undefined && rolled.active === undefined ? undefined : this.#latest.get(key);
    const report = active ?? shadow;
    if (report === undefined || rolled === undefined) return report;
    const state =
      active?.state === "loaded" && shadow !== undefined && shadow.state !== "loaded" ? "last-good" : report.state;
    const beside = active === undefined || shadow === undefined ? [] : shadow.problems;
    const problems = [
      ...mistakes,
      ...report.problems,
      ...beside.map((each) => ({ ...each, text: `in shadow: ${each.text}` })),
    ];
    return { ...report, generation: rolled.document.generation, state, problems };
  }
}

/** The latest report of each policy, without deleted ones. */
function kept(
  before: ReadonlyMap<string, LoadedPolicyReport>,
  reports: readonly LoadedPolicyReport[],
  keys: { has(key: string): boolean },
): ReadonlyMap<string, LoadedPolicyReport> {
  const all = [...before, ...reports.map((report) => [report.key, report] as const)];
  return new Map(all.filter(([key]) => keys.has(key)));
}

/** Joins each policy with its shadow. Deleted ones are still answered for, but have none. */
function together(
  inForce: readonly ServedPolicy[],
  inShadow: readonly ServedPolicy[],
  rolledOut: ReadonlyMap<string, RolledOut>,
): ServedPolicy[] {
  const byId = new Map(Array.from(rolledOut, ([key, rolled]) => [policyIdOf(parseKey(key)), rolled]));
  const served = new Map(inForce.map((entry) => [entry.id, entry]));
  for (const entry of inShadow) {
    if (entry.id.includes("/")) continue;
    const active = served.get(entry.id);
    const rollout = byId.get(entry.id)?.rollout;
    if (rollout?.shadow === undefined) {
      if (active === undefined)
        served.set(entry.id, servedAlone({ entry, version: "", enforcedNamespaces: new Set() }));
      continue;
    }
    const { version } = rollout.shadow;
    const shadow = { entry, version, enforcedNamespaces: new Set(rollout.enforcedNamespaces) };
    // A deleted policy was in force until a moment ago, and no longer is.
    const isAlone = active === undefined;
    served.set(entry.id, isAlone ? servedAlone(shadow) : { ...active, shadow: { ...shadow, isAlone } });
  }
  return [...served.values()];
}

/** Problems in annotations, with their places. */
function mistakesOf(rolled: RolledOut | undefined): Problem[] {
  if (rolled === undefined) return [];
  const { document, rollout } = rolled;
  const lines = document.text.split("\n");
  return rollout.problems.map(({ path, message }) => {
    const key = `${JSON.stringify(path.at(-1))}:`;
    const line = lines.findIndex((each) => each.trimStart().startsWith(key));
    const column = (lines[line]?.indexOf(key) ?? 0) + 1;
    return { severity: "error", file: shownName(parseKey(document.key)), line: line + 1, column, path, message };
  });
}
