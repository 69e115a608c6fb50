/** Counts of all results, by policy. */
import type { Change } from "./compare.js";

/** Most policies with a row; recordings choose their names. */
const MOST_POLICIES = 5000;
/** The name under which the rest is counted. */
const OTHERS = "(others)";

/** Counts of one policy, or of all. */
export type Counts = Readonly<Record<Change | "requests" | "redacted", number>>;

const none = (): Record<Change | "requests" | "redacted", number> => ({
  requests: 0,
  same: 0,
  nowDenied: 0,
  nowAllowed: 0,
  message: 0,
  patch: 0,
  failed: 0,
  undecided: 0,
  denies: 0,
  allows: 0,
  redacted: 0,
});

/** Counts results. */
export class Tally {
  readonly #policies = new Map<string, Record<Change | "requests" | "redacted", number>>();
  /** Counts of all policies. */
  readonly total = none();

  /** @param redacted whether the request is incomplete, which may explain a difference */
  count(policy: string, change: Change, redacted: boolean): void {
    const id = this.#policies.has(policy) || this.#policies.size < MOST_POLICIES ? policy : OTHERS;
    const row = this.#policies.get(id) ?? none();
    this.#policies.set(id, row);
    for (const counts of [row, this.total]) {
      counts.requests += 1;
      counts[change] += 1;
      if (redacted && isChange(change)) counts.redacted += 1;
    }
  }

  /** Counts by policy name. */
  get policies(): readonly (readonly [string, Counts])[] {
    return [...this.#policies].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Number of answers that changed or could not be determined. */
  get changes(): number {
    const { nowDenied, nowAllowed, message, patch, failed, undecided } = this.total;
    return nowDenied + nowAllowed + message + patch + failed + undecided;
  }
}

/** Whether a change is to be reported. */
export const isChange = (change: Change): boolean => change !== "same" && change !== "allows" && change !== "denies";
