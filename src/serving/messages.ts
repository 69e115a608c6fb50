/** Messages between the primary process and the serving processes. */
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { ShadowRow, ShadowRows } from "../policy/served/shadow/tally.js";
import type { MetricsSnapshot } from "../telemetry/otlp/metric-data.js";
import type { SeriesBatch } from "../telemetry/series.js";

/** The environment variable with the generation of policies that the other processes serve. */
export const GENERATION_VARIABLE = "POLICY_SERVER_GENERATION";

/** The environment variable that is `true` when all processes have served once before, else `false`. */
export const SUCCESSOR_VARIABLE = "POLICY_SERVER_SUCCESSOR";

/** Messages of the primary. */
export type ToWorker =
  /**
   * Load policies beside the served ones: with a delta those that changed in the cluster (with an empty delta, which leads to the version it begins
   * with, those that could not be fetched before), without one those of the files.
   */
  | { readonly type: "prepare"; readonly id: number; readonly generation: number; readonly delta?: ClusterDelta }
  /** The cluster's state, for a process that has asked: to be loaded before its first answer; absent: the process' version is current. */
  | { readonly type: "begin"; readonly delta?: ClusterDelta }
  /** Approve CertificateRequests from now on. */
  | { readonly type: "approve" }
  /** Serve the prepared policies; a message with a number is answered (`swapped`). */
  | { readonly type: "swap"; readonly id?: number }
  | { readonly type: "discard" }
  /** The certificate to serve; absent: there is none yet; a message with a number is answered (`secured`). */
  | { readonly type: "secure"; readonly id?: number; readonly pair?: CertificatePair }
  | { readonly type: "collect"; readonly id: number }
  /** A part of the text, which is complete with the last one. */
  | { readonly type: "metrics-text"; readonly id: number; readonly part: string; readonly last: boolean }
  | { readonly type: "metrics-unavailable"; readonly id: number; readonly reason: string }
  /** Send the counts of versions in shadow. */
  | { readonly type: "collect-shadows"; readonly id: number }
  /** Counts of versions in shadow of all processes. */
  | { readonly type: "shadows"; readonly id: number; readonly rows: ShadowRows }
  | { readonly type: "stop"; readonly delay: number; readonly grace: number };

/** Problems of a set of policies: every process finds the same, and one must log them. */
export interface ProblemReport {
  /** The generation of the set. */
  readonly generation: number;
  readonly problems: readonly { readonly level: "error" | "warn"; readonly line: string }[];
}

/** The result of preparing. */
export interface Prepared {
  /** Whether the process can serve the policies. */
  readonly ok: boolean;
  /** States of the cluster's policies that were loaded anew since the last `swap`; with a whole state, of all; absent: no policies come from a cluster. */
  readonly reports?: readonly LoadedPolicyReport[];
  /** The delta begins at a version that this process does not have: nothing is prepared, and it needs all documents (a delta with the base 0). */
  readonly needs?: "whole";
}

/** Messages of a worker. */
export type ToPrimary =
  /** A beat of the main thread, with whether policies are being loaded, which may hold it, and evaluations so far. */
  | { readonly type: "beat"; readonly loading: boolean; readonly evaluations: number }
  | ({ readonly type: "problems" } & ProblemReport)
  /** The process answers requests; with the states of all policies that the cluster had when it started. */
  | { readonly type: "serving"; readonly files: readonly string[]; readonly reports?: readonly LoadedPolicyReport[] }
  | { readonly type: "failed"; readonly message: string }
  | ({ readonly type: "prepared"; readonly id: number; readonly files: readonly string[] } & Prepared)
  /** A new process asks for the cluster's state before it starts (`begin`), unless that is the version which it knows; 0: it knows none. */
  | { readonly type: "begin-wanted"; readonly known: number }
  /** The prepared policies are served, after `swap`. */
  | { readonly type: "swapped"; readonly id: number }
  /** A new process asks for the certificate (`secure`). */
  | { readonly type: "certificate-wanted" }
  /** New connections get the certificate, or it could not be used and the one before stays. */
  | { readonly type: "secured"; readonly id: number }
  /** Something new can be loaded without a change in the cluster, such as a module that failed before: the process asks for `prepare` with an empty delta. */
  | { readonly type: "load-wanted" }
  /** A part of the counts since the last time. */
  | ({ readonly type: "series" } & SeriesBatch)
  /** All series have been sent; the rest, as it is now. */
  | { readonly type: "collected"; readonly id: number; readonly snapshot: MetricsSnapshot }
  | { readonly type: "metrics-wanted"; readonly id: number }
  /** Counts of versions in shadow since the last time, with rows for all versions. */
  | { readonly type: "collected-shadows"; readonly id: number; readonly rows: readonly ShadowRow[] }
  | { readonly type: "shadows-wanted"; readonly id: number }
  /** The process no longer answers requests; its last metrics, after the last series. */
  | { readonly type: "drained"; readonly snapshot: MetricsSnapshot };
