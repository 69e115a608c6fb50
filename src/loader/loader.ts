/**
 * Config entries to policies that are ready to be asked. An entry that cannot be loaded does not stop the others: it stays as an unavailable
 * policy that says why.
 */
import type { Config, ConfigEntry, GroupEntry, Member, PolicyEntry, Problem } from "../config/index.js";
import { createPolicySet, type PolicySet, type ServedPolicy } from "../evaluation/policy-set.js";
import { expressionMistakes, loadGroup } from "../kinds/group/load-group.js";
import type { GroupMember } from "../kinds/group/member.js";
import type { Policy } from "../policy/index.js";
import { LoadError } from "./load-error.js";
import { createUnavailablePolicy } from "./unavailable-policy.js";

/** Loads entries of one kind. Rejects with a {@link LoadError}. */
export interface KindLoaders {
  readonly module: (entry: Extract<PolicyEntry, { kind: "module" }>) => Promise<Policy>;
  readonly cel: (entry: Extract<PolicyEntry, { kind: "cel" }>, warn: (problem: Problem) => void) => Promise<Policy>;
  readonly resource: (
    entry: Extract<PolicyEntry, { kind: "resource" }>,
    warn: (problem: Problem) => void,
  ) => Promise<Policy>;
}

/** What loading needs. */
export interface LoaderOptions {
  readonly kinds: KindLoaders;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity for no limit. */
  readonly policyTimeout: number;
}

/** What came of loading a configuration. */
export interface Loaded {
  readonly policies: PolicySet;
  /** Every error and warning found while loading, beyond those of the configuration itself. */
  readonly problems: readonly Problem[];
}

/** Loads every entry of a configuration; never rejects. `generation` numbers the set. */
export async function loadPolicies(config: Config, options: LoaderOptions, generation = 1): Promise<Loaded> {
  const loading = new Loading(config, options);
  const served: ServedPolicy[] = [];
  for (const entry of config.entries) served.push(...(await loading.serve(entry)));
  return { policies: createPolicySet(served, generation), problems: loading.problems };
}

/** One run over a configuration (disposable): every entry is loaded once, whoever refers to it. */
class Loading {
  readonly problems: Problem[] = [];
  private readonly entries: ReadonlyMap<string, ConfigEntry>;
  private readonly policies = new Map<string, Promise<Policy>>();

  constructor(
    config: Config,
    private readonly options: LoaderOptions,
  ) {
    this.entries = new Map(config.entries.map((entry) => [entry.id, entry]));
  }

  /** The policies that an entry stands for: itself and, for a group, its members addressed by themselves. */
  async serve(entry: ConfigEntry): Promise<ServedPolicy[]> {
    const policy = await this.policy(entry);
    if (entry.kind === "invalid") {
      return [{ id: entry.id, policy, mode: "protect", allowedToMutate: false, ...whyUnavailable(policy) }];
    }
    const { id, policyMode, allowedToMutate, message } = entry;
    const served: ServedPolicy = {
      id,
      policy,
      mode: policyMode,
      allowedToMutate,
      timeout: this.timeoutOf(entry),
      ...whyUnavailable(policy),
      ...(message === undefined || entry.kind === "group" ? {} : { message }),
    };
    return entry.kind === "group" ? [served, ...(await this.serveMembers(entry))] : [served];
  }

  private async serveMembers(group: GroupEntry): Promise<ServedPolicy[]> {
    const served: ServedPolicy[] = [];
    for (const member of group.members) {
      const policy = await this.member(member);
      const id = `${group.id}/${member.name}`;
      const timeout = this.memberTimeout(member);
      served.push({ id, policy, mode: "protect", allowedToMutate: false, timeout, ...whyUnavailable(policy) });
    }
    return served;
  }

  private policy(entry: ConfigEntry): Promise<Policy> {
    const known = this.policies.get(entry.id);
    if (known !== undefined) return known;
    const loading = this.load(entry).catch((cause: unknown) => this.unavailable(entry, cause));
    this.policies.set(entry.id, loading);
    return loading;
  }

  private async load(entry: ConfigEntry): Promise<Policy> {
    const { kinds, now } = this.options;
    const warn = (problem: Problem) => this.problems.push(problem);
    switch (entry.kind) {
      case "invalid":
        throw new LoadError(
          `the policy's configuration is invalid: ${entry.problems[0]?.message ?? ""}`,
          entry.draft === undefined ? [] : expressionMistakes(entry.draft),
        );
      case "module":
        return kinds.module(entry);
      case "cel":
        return kinds.cel(entry, warn);
      case "resource":
        return kinds.resource(entry, warn);
      case "group":
        return loadGroup(entry, await this.members(entry), { now, warn });
    }
  }

  private async members(group: GroupEntry): Promise<GroupMember[]> {
    const members: GroupMember[] = [];
    for (const member of group.members)
      members.push({
        name: member.name,
        policy: await this.member(member),
        timeout: this.memberTimeout(member),
      });
    return members;
  }

  private member({ policy }: Member): Promise<Policy> {
    if (policy.kind !== "reference") return this.policy(policy);
    const entry = this.entries.get(policy.id);
    // The configuration has checked references; one that leads nowhere all the same must not become an answer.
    if (entry === undefined) return Promise.resolve(createUnavailablePolicy(policy.id, "unknown policy"));
    return this.policy(entry);
  }

  /** The policy in whose place the load error answers. */
  private unavailable(entry: ConfigEntry, cause: unknown): Policy {
    const message = cause instanceof Error ? cause.message : "the policy could not be loaded";
    const problems = cause instanceof LoadError ? cause.problems : this.unexpected(entry, message);
    this.problems.push(...problems);
    return createUnavailablePolicy(entry.id, message);
  }

  private unexpected(entry: ConfigEntry, message: string): Problem[] {
    return entry.kind === "invalid" ? [] : [entry.origin.error([], message)];
  }

  /** A group may take what its members may take together, unless it says otherwise. */
  private timeoutOf(entry: PolicyEntry): number {
    if (entry.timeoutEvalSeconds !== undefined) return entry.timeoutEvalSeconds * 1000;
    if (entry.kind !== "group") return this.options.policyTimeout;
    return entry.members.reduce((sum, member) => sum + this.memberTimeout(member), 0);
  }

  private memberTimeout({ policy }: Member): number {
    const entry = policy.kind === "reference" ? this.entries.get(policy.id) : policy;
    return entry === undefined || entry.kind === "invalid" ? this.options.policyTimeout : this.timeoutOf(entry);
  }
}

function whyUnavailable(policy: Policy): { readonly unavailable?: string } {
  return policy.kind === "unavailable" && "reason" in policy ? { unavailable: String(policy.reason) } : {};
}
