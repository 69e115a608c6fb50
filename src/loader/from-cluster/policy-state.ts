/** What has become of one policy of the cluster, from version to version. */
import type { ClusterEntry, LoadedPolicyReport } from "../../config/from-cluster/index.js";
import { formatPath, type Problem } from "../../config/index.js";
import { confined } from "../../kinds/confined-policy.js";
import { createUnavailablePolicy } from "../../kinds/unavailable-policy.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";

/** What came of loading one version of a policy. */
export interface LoadedVersion {
  /** The policy, and the members of a group. */
  readonly served: readonly ServedPolicy[];
  readonly problems: readonly Problem[];
  /** Whether a module could not be fetched: it may be there later. */
  readonly unfetched: boolean;
}

/** Policies of one id, and what is to be told of them. */
export interface PolicyView {
  readonly served: readonly ServedPolicy[];
  readonly reports: readonly LoadedPolicyReport[];
  /** Those of the version that is wanted. */
  readonly problems: readonly Problem[];
}

const WAITING = "its module is still being fetched";

/** One policy of the cluster. */
export class PolicyState {
  #wanted: ClusterEntry;
  #fingerprint = "";
  #found: LoadedVersion | undefined;
  #good: LoadedVersion | undefined;
  /** What the good one was held to. */
  #terms = "";
  #view: PolicyView | undefined;
  /** Attempts in a row at this version of it that could not fetch a module. */
  failures = 0;
  /** Of the last attempt: what an earlier one brings counts no more. */
  attempt = 0;
  /** Takes back the next attempt. */
  cancel: (() => void) | undefined;
  /** Monotonic milliseconds until which it is answered for, after it has gone from the cluster; absent: it is there. */
  retiredUntil: number | undefined;

  constructor(wanted: ClusterEntry) {
    this.#wanted = wanted;
  }

  /** What the cluster holds now. */
  get wanted(): ClusterEntry {
    return this.#wanted;
  }

  /** Whether nobody knows yet what becomes of the version that is wanted. */
  get isWaiting(): boolean {
    return this.#found === undefined;
  }

  /**
   * What the cluster holds now.
   * @returns whether that has to be loaded
   */
  want(entry: ClusterEntry): boolean {
    const before = this.#wanted;
    // Nobody has tried again while it was gone.
    const isLeft = this.retiredUntil !== undefined && this.#found?.unfetched === true;
    this.#wanted = entry;
    this.retiredUntil = undefined;
    if (entry.fingerprint === this.#fingerprint && !isLeft) {
      // Its text may have changed all the same: generations, which reports name.
      if (!sameGenerations(before, entry)) this.#view = undefined;
      return false;
    }
    this.#fingerprint = entry.fingerprint;
    this.#found = undefined;
    this.#view = undefined;
    this.failures = 0;
    return true;
  }

  /**
   * What came of the wanted version.
   * @returns whether that changes anything for anybody
   */
  found(version: LoadedVersion): boolean {
    const same = this.#found !== undefined && !isGood(version) && sameProblems(this.#found, version);
    this.#found = version;
    if (isGood(version)) {
      this.#good = version;
      this.#terms = this.#wanted.terms;
    } else if (this.#terms !== this.#wanted.terms) {
      // Nobody knows whether it would be good under what policies are held to now.
      this.#good = undefined;
    }
    if (!same) this.#view = undefined;
    return !same;
  }

  /** What is served, and said of it; the same object until that changes. */
  get view(): PolicyView {
    this.#view ??= this.#look();
    return this.#view;
  }

  #look(): PolicyView {
    const { id, namespace, policies } = this.#wanted;
    const [found, good] = [this.#found, this.#good];
    const problems = found?.problems ?? [];
    if (found !== undefined && found === good) return this.#viewOf(found.served, "loaded", problems);
    if (good !== undefined) {
      const why = found === undefined ? WAITING : (problems.find(isError)?.message ?? "it could not be loaded");
      const generations = policies.map(({ generation }) => generation).join(", ");
      const outdated = `an earlier version: generation ${generations} is not served, since ${why}`;
      return this.#viewOf(
        good.served.map((served) => ({ ...served, outdated })),
        "last-good",
        problems,
      );
    }
    if (found !== undefined) return this.#viewOf(found.served, "unavailable", problems);
    const policy = confined(createUnavailablePolicy(id, WAITING), namespace);
    return this.#viewOf([{ id, policy, mode: "protect", allowedToMutate: false, unavailable: WAITING }], "waiting", []);
  }

  #viewOf(
    served: readonly ServedPolicy[],
    state: LoadedPolicyReport["state"],
    problems: readonly Problem[],
  ): PolicyView {
    const { id, policies } = this.#wanted;
    const files = new Set(policies.map(({ file }) => file));
    const waiting = this.#found === undefined ? [{ severity: "warning" as const, text: WAITING }] : [];
    const reports = policies.map(({ key, generation, file }, index): LoadedPolicyReport => {
      // What is said of other documents is told with the first one.
      const own = problems.filter((problem) => problem.file === file || (index === 0 && !files.has(problem.file)));
      const told = own.map((problem) => ({ severity: problem.severity, text: textOf(problem, file) }));
      return { id, key, generation, state, problems: [...waiting, ...told] };
    });
    return { served, reports, problems };
  }
}

/** A group with a member that could not be loaded is no better than one without its expression. */
const isGood = ({ served }: LoadedVersion): boolean => served.every(({ unavailable }) => unavailable === undefined);

const isError = ({ severity }: Problem): boolean => severity === "error";

function sameProblems(one: LoadedVersion, other: LoadedVersion): boolean {
  const [first, second] = [one, other].map(({ problems }) => problems.map(({ message }) => message).join("\n"));
  return first === second;
}

const sameGenerations = (one: ClusterEntry, other: ClusterEntry): boolean =>
  one.policies.length === other.policies.length &&
  one.policies.every(({ key, generation }, i) => {
    const policy = other.policies[i];
    return policy?.key === key && policy.generation === generation;
  });

/** `spec.validations[0].expression (line 14, column 30): …`; what stands in another document begins with its name. */
function textOf({ file, line, column, path, message }: Problem, own: string): string {
  const place = `${path.length === 0 ? "" : `${formatPath(path)} `}(line ${line}, column ${column}): ${message}`;
  return file === own ? place : `${file}: ${place}`;
}
