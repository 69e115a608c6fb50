/**
 * Loads the entries of a configuration as policies that are ready. First every entry is read, checked and compiled; then the policies' needs are
 * known, and they are made. An entry that cannot be loaded does not stop the others: it becomes an unavailable policy with the reason.
 */

import type { Config, ConfigEntry, GroupEntry, Member, ModuleEntry, PolicyEntry, Problem } from "../config/index.js";
import { shownText, wholeText } from "../data/public-text.js";
import { FetchError } from "../fetch/index.js";
import { confined } from "../kinds/confined-policy.js";
import type { GroupMember, Kinds, ModuleFiles, PreparedEntry, Warn } from "../kinds/kind.js";
import { LoadError } from "../kinds/load-error.js";
import { prepareDocuments } from "../kinds/resource-entry.js";
import type { Watcher } from "../kinds/shared/index.js";
import { createUnavailablePolicy, isUnavailable } from "../kinds/unavailable-policy.js";
import type { Policy } from "../policy/index.js";
import { canNeverDeny } from "../policy/policy.js";
import { createPolicySet, type PolicySet, type ServedPolicy } from "../policy/served/policy-set.js";
import { SLICE_MS, Turns } from "../policy/turns.js";
import { allNeeds, type Needs, NO_NEEDS, type Requirement } from "../world/needs.js";
import type { OuterWorld } from "../world/world.js";
import { coded, unforeseen } from "./coded-problems.js";
import { actionsOf, memberWarning, neverDenyingWarning } from "./never-denying.js";

// Warnings about a policy that looks things up where there is no cluster: what will fail, and the remedy.

/** An entry that is loaded by itself, not made of members. */
type LoadedEntry = Exclude<PolicyEntry, GroupEntry>;

/** The warning, at the key of the policy's kind. */
function clusterWarning(entry: LoadedEntry, requires: readonly Requirement[]): Problem {
  const asked = listed(requires.map(({ what }) => what));
  const fails = entry.kind === "module" ? "what it asks fails" : `requests for which it asks are ${denied(requires)}`;
  const message = `asks a cluster for ${asked}: without one ${fails}. ${advice(entry, requires)}`;
  return entry.origin.warning([entry.kind], message, undefined, { code: "CLUSTER_NEEDED" });
}

function denied(requires: readonly Requirement[]): string {
  const ignorable = requires.filter((requirement) => requirement.ignorable === true).map(({ what }) => what);
  if (ignorable.length === 0) return "denied";
  const which = ignorable.length === requires.length ? "" : ` those for ${listed(ignorable)}`;
  return `denied,${which} unless its failurePolicy is Ignore`;
}

function advice({ kind }: LoadedEntry, requires: readonly Requirement[]): string {
  const documents = [...new Set(requires.flatMap((requirement) => requirement.documents ?? []))];
  if (documents.length === 0) return "Name one with --kubeconfig";
  const where =
    kind === "resource" ? "add their file to `resource`" : "move the policy to a file and name both under `resource`";
  const rest = requires.filter((requirement) => requirement.documents === undefined).map(({ what }) => what);
  const cluster = rest.length === 0 ? ", or name a cluster" : `; ${listed(rest)} can only be told by a cluster, named`;
  return `Write ${listed(documents)} as YAML documents beside it (${where})${cluster} with --kubeconfig`;
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

/** Options of loading. */
export interface LoadingOptions {
  readonly kinds: Kinds;
  /** Fetches the module at an entry's address. Rejects with a LoadError. */
  readonly fetchModule: (entry: ModuleEntry, warn: Warn) => Promise<ModuleFiles>;
  /** Calls `release` when a policy is no longer in use. */
  readonly keep?: (policy: Policy, release: () => void) => void;
  /** The world of a policy with these needs. */
  readonly worldFor: (needs: Needs) => OuterWorld;
  /** Receives the needs of all policies together, before the first one is made; its promise is awaited at the end. */
  readonly prefetch: (needs: Needs) => Promise<void> | undefined;
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity for no limit. */
  readonly policyTimeout: number;
  /** Watches the evaluation of groups' members. */
  readonly watcher: Watcher | undefined;
}

/** The result of loading a configuration. */
export interface LoadedConfig {
  readonly policies: PolicySet;
  /** Every error and warning found while loading, beyond those of the configuration itself. */
  readonly problems: readonly Problem[];
  /** The entries and members that need a cluster. */
  readonly clusterNeeded: readonly ClusterNeed[];
  /** A warning for each entry and member whose policies can never deny, unless the configuration says that it is meant. */
  readonly neverDenying: readonly Problem[];
  /** Whether a module could not be fetched: a later attempt may find it. */
  readonly unfetched: boolean;
}

/** An entry or member that needs a cluster. */
export interface ClusterNeed {
  readonly id: string;
  /** The resources that it looks up. */
  readonly requires: readonly Requirement[];
  /**
   * A warning at its place: the reason why it needs one, and the other sources of the same data. Absent for one that could not be loaded, whose
   * problem is reported already.
   */
  readonly warning?: Problem;
}

/**
 * Loads every entry of a configuration, a few milliseconds at a time: requests to the set that serves wait meanwhile. Never rejects. `generation`
 * numbers the set.
 */
export async function loadEntries(config: Config, options: LoadingOptions, generation = 1): Promise<LoadedConfig> {
  const loading = new Loading(config, options);
  const needs = await loading.prepare();
  const foreseen = options.prefetch(needs);
  const served: ServedPolicy[] = [];
  for (const entry of config.entries) {
    served.push(...(await loading.serve(entry)));
    await loading.rest();
  }
  await foreseen;
  return {
    policies: createPolicySet(served, generation),
    problems: loading.problems,
    clusterNeeded: await loading.clusterNeeds(),
    neverDenying: await loading.neverDenying(),
    unfetched: loading.unfetched,
  };
}

/** One run over a configuration (disposable): every entry is loaded once, however many refer to it. */
class Loading {
  readonly problems: Problem[] = [];
  /** Whether a module could not be fetched. */
  unfetched = false;
  readonly #needing: { readonly entry: LoadedEntry; readonly requires: readonly Requirement[] }[] = [];
  readonly #options: LoadingOptions;
  readonly #entries: ReadonlyMap<string, ConfigEntry>;
  readonly #prepared = new Map<string, PreparedEntry | { readonly failed: unknown }>();
  readonly #policies = new Map<string, Promise<Policy>>();
  readonly #turns = new Turns();
  #sliceEnds = performance.now() + SLICE_MS;
  readonly #warn: Warn = (problem) => this.problems.push(coded(problem));

  constructor(config: Config, options: LoadingOptions) {
    this.#options = options;
    this.#entries = new Map(config.entries.map((entry) => [entry.id, entry]));
  }

  /** Gives up the turn when it is over; called between entries. */
  async rest(): Promise<void> {
    if (performance.now() < this.#sliceEnds) return;
    await this.#turns.next();
    this.#sliceEnds = performance.now() + SLICE_MS;
  }

  /** Prepares every entry and member. Returns their needs together. */
  async prepare(): Promise<Needs> {
    const needs: Needs[] = [];
    for (const entry of this.#entries.values()) {
      needs.push(this.#prepareEntry(entry));
      await this.rest();
    }
    return allNeeds(needs);
  }

  #prepareEntry(entry: ConfigEntry): Needs {
    if (entry.kind === "invalid") return NO_NEEDS;
    if (entry.kind === "group") {
      const own = entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : [policy]));
      return allNeeds(own.map((member) => this.#prepareEntry(member)));
    }
    let prepared: PreparedEntry;
    try {
      prepared = this.#prepareAlone(entry);
    } catch (failed) {
      this.#prepared.set(entry.id, { failed });
      return NO_NEEDS;
    }
    this.#prepared.set(entry.id, prepared);
    const { requires } = prepared.needs;
    if (requires.length > 0) this.#needing.push({ entry, requires });
    return prepared.needs;
  }

  /** The entries and members that need a cluster, once all is loaded. */
  async clusterNeeds(): Promise<ClusterNeed[]> {
    const needs: ClusterNeed[] = [];
    for (const { entry, requires } of this.#needing) {
      const unavailable = isUnavailable(await this.#policy(entry));
      needs.push({ id: entry.id, requires, ...(!unavailable && { warning: clusterWarning(entry, requires) }) });
    }
    return needs;
  }

  /** Warnings about what can never deny. */
  async neverDenying(): Promise<Problem[]> {
    const warnings: Problem[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.kind === "invalid" || entry.policyMode === "monitor") continue;
      if (entry.kind === "group") await this.#warnOfMembers(entry, warnings);
      else warnings.push(...neverDenyingWarning(entry, await this.#policy(entry)));
    }
    return warnings;
  }

  async #warnOfMembers(group: GroupEntry, warnings: Problem[]): Promise<void> {
    for (const [index, { policy: member }] of group.members.entries()) {
      const entry = this.#entryOf(member);
      if (entry === undefined || entry.kind === "invalid") continue;
      if (member.kind === "group") await this.#warnOfMembers(member, warnings);
      const policy = await this.#policy(entry);
      if (canNeverDeny(policy)) {
        if (!(await this.#isMeant(entry))) warnings.push(memberWarning(group, index, entry, policy));
      } else if (member.kind !== "reference" && member.kind !== "group")
        warnings.push(...neverDenyingWarning(member, policy));
    }
  }

  /** Whether an entry that can never deny says its actions; of a group, whether each such member does. */
  async #isMeant(entry: PolicyEntry): Promise<boolean> {
    if (entry.kind !== "group") return actionsOf(entry) !== undefined;
    for (const { policy: member } of entry.members) {
      const own = this.#entryOf(member);
      if (own === undefined || own.kind === "invalid" || !canNeverDeny(await this.#policy(own))) continue;
      if (!(await this.#isMeant(own))) return false;
    }
    return true;
  }

  /** The resources that an entry and its members look up in a cluster. */
  #asksOf(entry: ConfigEntry): readonly string[] {
    if (entry.kind === "invalid") return [];
    if (entry.kind === "group") return [...new Set(entry.members.flatMap((member) => this.#asksOfMember(member)))];
    const prepared = this.#prepared.get(entry.id);
    return prepared === undefined || "failed" in prepared ? [] : prepared.needs.requires.map(({ what }) => what);
  }

  #entryOf(policy: Member["policy"]): ConfigEntry | undefined {
    return policy.kind === "reference" ? this.#entries.get(policy.id) : policy;
  }

  #asksOfMember({ policy }: Member): readonly string[] {
    const entry = this.#entryOf(policy);
    return entry === undefined ? [] : this.#asksOf(entry);
  }

  #prepareAlone(entry: LoadedEntry): PreparedEntry {
    const { kinds } = this.#options;
    switch (entry.kind) {
      case "module":
        return {
          needs: allNeeds(kinds.modules.map((kind) => kind.needs(entry))),
          policy: () => this.#modulePolicy(entry),
        };
      case "cel":
        return kinds.inline.prepare(entry, this.#warn);
      case "resource":
        return prepareDocuments(entry, kinds.documents, this.#warn);
    }
  }

  async #modulePolicy(entry: ModuleEntry): Promise<Policy> {
    const files = await this.#options.fetchModule(entry, this.#warn);
    try {
      for (const kind of this.#options.kinds.modules) {
        const policy = await kind.policy(entry, files);
        if (policy === undefined) continue;
        files.used?.();
        if (files.release !== undefined) this.#options.keep?.(policy, files.release);
        return policy;
      }
      throw new Error("no kind takes the module");
    } catch (cause) {
      files.release?.();
      throw cause;
    }
  }

  /** The policies of an entry: itself and, for a group, its members addressed by themselves. */
  async serve(entry: ConfigEntry): Promise<ServedPolicy[]> {
    const policy = await this.#policy(entry);
    if (entry.kind === "invalid") {
      return [{ id: entry.id, policy, mode: "protect", allowedToMutate: false, ...whyUnavailable(policy) }];
    }
    const { id, policyMode, allowedToMutate, message, namespace } = entry;
    const asks = this.#asksOf(entry);
    const served: ServedPolicy = {
      id,
      policy: confined(policy, namespace),
      mode: policyMode,
      allowedToMutate,
      timeout: this.#timeoutOf(entry),
      ...whyUnavailable(policy),
      ...(asks.length > 0 && { asks }),
      ...(message === undefined || entry.kind === "group" ? {} : { message }),
    };
    return entry.kind === "group" ? [served, ...(await this.#serveMembers(entry))] : [served];
  }

  async #serveMembers(group: GroupEntry): Promise<ServedPolicy[]> {
    const served: ServedPolicy[] = [];
    for (const { name, policy, timeout } of await this.#members(group)) {
      const id = `${group.id}/${name}`;
      const own = confined(policy, group.namespace);
      served.push({ id, policy: own, mode: "protect", allowedToMutate: false, timeout, ...whyUnavailable(policy) });
    }
    return served;
  }

  #policy(entry: ConfigEntry): Promise<Policy> {
    const known = this.#policies.get(entry.id);
    if (known !== undefined) return known;
    const loading = this.#load(entry).catch((cause: unknown) => this.#unavailable(entry, cause));
    this.#policies.set(entry.id, loading);
    return loading;
  }

  async #load(entry: ConfigEntry): Promise<Policy> {
    const { kinds, worldFor } = this.#options;
    if (entry.kind === "invalid") {
      // A problem quotes the file, with addresses of modules and paths: it goes to the log only.
      const [detail] = entry.problems.map(({ message }) => message);
      throw new LoadError(
        "the policy's configuration is invalid: the server's log says where",
        entry.draft === undefined ? [] : kinds.group.mistakes(entry.draft),
        detail === undefined ? {} : { detail },
      );
    }
    if (entry.kind === "group") return kinds.group.policy(entry, await this.#watchedMembers(entry), this.#warn);
    const prepared = this.#prepared.get(entry.id);
    if (prepared === undefined) throw new Error("an entry was not prepared");
    if ("failed" in prepared) throw prepared.failed;
    return prepared.policy(worldFor(prepared.needs));
  }

  async #watchedMembers(group: GroupEntry): Promise<GroupMember[]> {
    const members = await this.#members(group);
    const { watcher } = this.#options;
    if (watcher?.member === undefined) return members;
    const watched: GroupMember[] = [];
    for (const { name, policy, timeout } of members)
      watched.push({ name, policy: watcher.member(group.id, name, policy), timeout });
    return watched;
  }

  async #members(group: GroupEntry): Promise<GroupMember[]> {
    const members: GroupMember[] = [];
    for (const member of group.members) {
      members.push({
        name: member.name,
        policy: await this.#member(member),
        timeout: this.#memberTimeout(member),
      });
    }
    return members;
  }

  #member({ policy }: Member): Promise<Policy> {
    if (policy.kind !== "reference") return this.#policy(policy);
    const entry = this.#entries.get(policy.id);
    // The configuration has checked references; should one lead nowhere, the group must still deny.
    if (entry === undefined) return Promise.resolve(createUnavailablePolicy(policy.id, "unknown policy"));
    return this.#policy(entry);
  }

  /** A policy that answers every request with the load error. */
  #unavailable(entry: ConfigEntry, cause: unknown): Policy {
    if (cause instanceof LoadError) {
      if (cause.cause instanceof FetchError) this.unfetched = true;
      this.problems.push(...cause.problems.map((problem) => coded(problem, cause, entry)));
      return createUnavailablePolicy(entry.id, cause.message, cause.detail);
    }
    const whole = wholeText(cause);
    if (entry.kind !== "invalid") this.problems.push(unforeseen(entry, cause));
    const shown = shownText(cause, "the policy could not be loaded: the server's log says why");
    return createUnavailablePolicy(entry.id, shown, whole === shown ? undefined : whole);
  }

  /** The time limit of an entry; of a group without one the sum of its members' limits. */
  #timeoutOf(entry: PolicyEntry): number {
    if (entry.timeoutEvalSeconds !== undefined) return entry.timeoutEvalSeconds * 1000;
    if (entry.kind !== "group") return this.#options.policyTimeout;
    return entry.members.reduce((sum, member) => sum + this.#memberTimeout(member), 0);
  }

  #memberTimeout({ policy }: Member): number {
    const entry = policy.kind === "reference" ? this.#entries.get(policy.id) : policy;
    return entry === undefined || entry.kind === "invalid" ? this.#options.policyTimeout : this.#timeoutOf(entry);
  }
}

const whyUnavailable = (policy: Policy): { readonly unavailable?: string } =>
  isUnavailable(policy) ? { unavailable: policy.reason } : {};
