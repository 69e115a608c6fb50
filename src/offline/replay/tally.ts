/** What came of all questions, by policy. */
import type { Change } from "./compare.js";

/** Policies that have a row; whoever records chooses their names. */
const MOST_POLICIES = 5000;
/** Where the rest is counted. */
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

/** Counts. */
export class Tally {
  readonly #policies = new Map<string, Record<Change | "requests" | "redacted", number>>();
  /** Of all policies. */
  readonly total = none();

  /** @param redacted whether the request is not whole, so that a difference may come of that */
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

  /** By name. */
  get policies(): readonly (readonly [string, Counts])[] {
    return [...this.#policies].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** How many answers are not as they were, or could not be had. */
  get changes(): number {
    const { nowDenied, nowAllowed, message, patch, failed, undecided } = this.total;
    return nowDenied + nowAllowed + message + patch + failed + undecided;
  }
}

/** Whether it is something to tell. */
export const isChange = (change: Change): boolean => change !== "same" && change !== "allows" && change !== "denies";
