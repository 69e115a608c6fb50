/** What the primary process and the processes that answer requests say to each other. */
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { ShadowRow, ShadowRows } from "../policy/served/shadow/tally.js";
import type { SeriesBatch } from "../telemetry/metrics.js";
import type { MetricsSnapshot } from "../telemetry/otlp/metric-data.js";

/** The environment variable that tells a new process which generation of policies the others serve. */
export const GENERATION_VARIABLE = "POLICY_SERVER_GENERATION";

/** The environment variable that tells a new process whether the server has been complete before: `true` or `false`. */
export const SUCCESSOR_VARIABLE = "POLICY_SERVER_SUCCESSOR";

/** From the primary. */
export type ToWorker =
  /**
   * Loads beside what it serves: with a delta what has changed in the cluster (in an empty one that leads to the version it begins with: what could not be
   * fetched before), without one the files.
   */
  | { readonly type: "prepare"; readonly id: number; readonly generation: number; readonly delta?: ClusterDelta }
  /** What the cluster holds now, for one that has asked: to be loaded before it answers anybody; absent: no more than it knows. */
  | { readonly type: "begin"; readonly delta?: ClusterDelta }
  /** This process approves CertificateRequests from now on. */
  | { readonly type: "approve" }
  /** Serves what was prepared; one with a number is answered (`swapped`). */
  | { readonly type: "swap"; readonly id?: number }
  | { readonly type: "discard" }
  /** The certificate to serve, absent: there is none yet; one with a number is answered (`secured`). */
  | { readonly type: "secure"; readonly id?: number; readonly pair?: CertificatePair }
  | { readonly type: "collect"; readonly id: number }
  /** A part of the text, which is whole with the last one. */
  | { readonly type: "metrics-text"; readonly id: number; readonly part: string; readonly last: boolean }
  | { readonly type: "metrics-unavailable"; readonly id: number; readonly reason: string }
  /** What was counted of versions in shadow is wanted. */
  | { readonly type: "collect-shadows"; readonly id: number }
  /** What all processes have counted of them. */
  | { readonly type: "shadows"; readonly id: number; readonly rows: ShadowRows }
  | { readonly type: "stop"; readonly delay: number; readonly grace: number };

/** What is wrong with a set of policies: every process finds the same, and one must say it. */
export interface ProblemReport {
  /** Of the set. */
  readonly generation: number;
  readonly problems: readonly { readonly level: "error" | "warn"; readonly line: string }[];
}

/** What came of preparing. */
export interface Prepared {
  /** Whether it can serve it. */
  readonly ok: boolean;
  /**
   * What became of the cluster's policies that were loaded anew since the last `swap`; with a delta that holds everything, of all of them; absent: no policies
   * come from a cluster.
   */
  readonly reports?: readonly LoadedPolicyReport[];
  /** The delta begins at a version that this process does not have: nothing is prepared, and it needs all documents (a delta with the base 0). */
  readonly needs?: "whole";
}

/** From a worker. */
export type ToPrimary =
  /** Its main thread turns; whether policies are being loaded, which may hold it; evaluations so far. */
  | { readonly type: "beat"; readonly loading: boolean; readonly evaluations: number }
  | ({ readonly type: "problems" } & ProblemReport)
  /** Answers requests; with what became of all policies that the cluster had when it began. */
  | { readonly type: "serving"; readonly files: readonly string[]; readonly reports?: readonly LoadedPolicyReport[] }
  | { readonly type: "failed"; readonly message: string }
  | ({ readonly type: "prepared"; readonly id: number; readonly files: readonly string[] } & Prepared)
  /** A new process wants to know what the cluster holds before it begins (`begin`), unless that is the version which it knows; 0: it knows none. */
  | { readonly type: "begin-wanted"; readonly known: number }
  /** Serves what it was told to by `swap`. */
  | { readonly type: "swapped"; readonly id: number }
  /** A new process wants the certificate that is handed over (`secure`). */
  | { readonly type: "certificate-wanted" }
  /** New connections get the certificate, or it could not be used and the one before stays. */
  | { readonly type: "secured"; readonly id: number }
  /** There is something new to serve without a change in the cluster, such as a module that has come at last: it wants to `prepare` an empty delta. */
  | { readonly type: "load-wanted" }
  /** Some of what was counted since the last time. */
  | ({ readonly type: "series" } & SeriesBatch)
  /** All series have been sent; the rest, as it is now. */
  | { readonly type: "collected"; readonly id: number; readonly snapshot: MetricsSnapshot }
  | { readonly type: "metrics-wanted"; readonly id: number }
  /** What was counted of versions in shadow since the last time; all of them are named. */
  | { readonly type: "collected-shadows"; readonly id: number; readonly rows: readonly ShadowRow[] }
  | { readonly type: "shadows-wanted"; readonly id: number }
  /** Answers no request any more; its last metrics, after the last series. */
  | { readonly type: "drained"; readonly snapshot: MetricsSnapshot };
