/** The state of one policy of the cluster, from version to version. */
import type { ClusterEntry, LoadedPolicyReport } from "../../config/from-cluster/index.js";
import { formatPath, type Problem } from "../../config/index.js";
import { confined } from "../../kinds/confined-policy.js";
import { createUnavailablePolicy } from "../../kinds/unavailable-policy.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";

/** The result of loading one version of a policy. */
export interface LoadedVersion {
  /** The policy, and the members of a group. */
  readonly served: readonly ServedPolicy[];
  readonly problems: readonly Problem[];
  /** Whether a module could not be fetched: a later attempt may find it. */
  readonly unfetched: boolean;
}

/** Policies of one id, with their report. */
export interface PolicyView {
  readonly served: readonly ServedPolicy[];
  readonly reports: readonly LoadedPolicyReport[];
  /** Problems of the wanted version. */
  readonly problems: readonly Problem[];
}

const WAITING = "its module is still being fetched";

/** One policy of the cluster. */
export class PolicyState {
  #wanted: ClusterEntry;
  #fingerprint = "";
  #found: LoadedVersion | undefined;
  #good: LoadedVersion | undefined;
  /** The fetch terms of the good version. */
  #terms = "";
  #view: PolicyView | undefined;
  /** Failed attempts in a row to fetch a module of this version. */
  failures = 0;
  /** Number of the last attempt: results of earlier ones are discarded. */
  attempt = 0;
  /** Cancels the next attempt. */
  cancel: (() => void) | undefined;
  /** Monotonic milliseconds until which a deleted policy is answered for; absent: it exists. */
  retiredUntil: number | undefined;

  constructor(wanted: ClusterEntry) {
    this.#wanted = wanted;
  }

  /** The version that the cluster holds now. */
  get wanted(): ClusterEntry {
    return this.#wanted;
  }

  /** Whether the result of the wanted version is not known yet. */
  get isWaiting(): boolean {
    return this.#found === undefined;
  }

  /**
   * Sets the version that the cluster holds now.
   * @param conditions what else decides how it is loaded
   * @returns whether that has to be loaded
   */
  want(entry: ClusterEntry, conditions = ""): boolean {
    const before = this.#wanted;
    // There were no retries while it was deleted.
    const isLeft = this.retiredUntil !== undefined && this.#found?.unfetched === true;
    this.#wanted = entry;
    this.retiredUntil = undefined;
    const fingerprint = `${entry.fingerprint} ${conditions}`;
    if (fingerprint === this.#fingerprint && !isLeft) {
      // Its generations may have changed, which reports name.
      if (!sameGenerations(before, entry)) this.#view = undefined;
      return false;
    }
    this.#fingerprint = fingerprint;
    this.#found = undefined;
    this.#view = undefined;
    this.failures = 0;
    return true;
  }

  /**
   * Notes the result of the wanted version.
   * @returns whether that changes the view
   */
  found(version: LoadedVersion): boolean {
    const same = this.#found !== undefined && !isGood(version) && sameProblems(this.#found, version);
    this.#found = version;
    if (isGood(version)) {
      this.#good = version;
      this.#terms = this.#wanted.terms;
    } else if (this.#terms !== this.#wanted.terms) {
      // It is not known whether it would be good under the present terms.
      this.#good = undefined;
    }
    if (!same) this.#view = undefined;
    return !same;
  }

  /** The served policies and their report; the same object until they change. */
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
      // Problems of other documents are reported with the first one.
      const own = problems.filter((problem) => problem.file === file || (index === 0 && !files.has(problem.file)));
      const told = own.map((problem) => ({ severity: problem.severity, text: textOf(problem, file) }));
      return { id, key, generation, state, problems: [...waiting, ...told] };
    });
    return { served, reports, problems };
  }
}

/** Whether all of a version could be loaded. A group with an unavailable member counts as unavailable. */
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

/** `spec.validations[0].expression (line 14, column 30): …`; in another document its name comes first. */
function textOf({ file, line, column, path, message }: Problem, own: string): string {
  const place = `${path.length === 0 ? "" : `${formatPath(path)} `}(line ${line}, column ${column}): ${message}`;
  return file === own ? place : `${file}: ${place}`;
}
