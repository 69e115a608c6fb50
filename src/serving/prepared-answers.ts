/** What processes answer that were to load policies. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Answer, Child } from "./fleet.js";
import type { Prepared } from "./messages.js";

/** What a process says of the cluster's policies. */
export interface LoadedByProcess {
  /** What became of policies that it has loaded anew. */
  readonly reports: readonly LoadedPolicyReport[];
  /** Whether it says so of all of them. */
  readonly isWhole: boolean;
}

/** What came of it; undefined for a process that has not answered. */
export const preparedBy = (answer: Answer): Prepared | undefined =>
  typeof answer === "object" && answer.type === "prepared" ? answer : undefined;

/** Whether the process can serve what it was to load. */
export const isPrepared = ([, answer]: readonly [Child, Answer]): boolean => preparedBy(answer)?.ok === true;

/** Whether it has taken too long. */
export const isLate = ([, answer]: readonly [Child, Answer]): boolean => answer === "late";

/** What it says of the cluster's policies after files were loaded: one, or none. */
export function loadedBy([child, answer]: readonly [Child, Answer]): [Child, LoadedByProcess][] {
  const reports = preparedBy(answer)?.reports;
  return reports === undefined ? [] : [[child, { reports, isWhole: false }]];
}
