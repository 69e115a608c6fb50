/** Answers of processes to a request to load policies. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Answer, Child } from "./fleet.js";
import type { Prepared } from "./messages.js";

/** A process' report on the cluster's policies. */
export interface LoadedByProcess {
  /** States of the policies that it has loaded anew. */
  readonly reports: readonly LoadedPolicyReport[];
  /** Whether the report covers all of them. */
  readonly isWhole: boolean;
}

/** The result of preparing; undefined for a process that has not answered. */
export const preparedBy = (answer: Answer): Prepared | undefined =>
  typeof answer === "object" && answer.type === "prepared" ? answer : undefined;

/** Whether the process can serve the policies that it was to load. */
export const isPrepared = ([, answer]: readonly [Child, Answer]): boolean => preparedBy(answer)?.ok === true;

/** Whether it has taken too long. */
export const isLate = ([, answer]: readonly [Child, Answer]): boolean => answer === "late";

/** Its report on the cluster's policies after files were loaded: one, or none. */
export function loadedBy([child, answer]: readonly [Child, Answer]): [Child, LoadedByProcess][] {
  const reports = preparedBy(answer)?.reports;
  return reports === undefined ? [] : [[child, { reports, isWhole: false }]];
}
