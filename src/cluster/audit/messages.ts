/** What the process that serves and the one that audits say to each other. */
import type { ClusterDelta } from "../../config/from-cluster/index.js";
import type { Status } from "../../offline/reports/finding.js";

/** The environment variable that tells a process that it is to audit: `true`. */
export const AUDITOR_VARIABLE = "POLICY_SERVER_AUDITOR";

/** To the one that audits. */
export type ToAuditor =
  /** What has changed in the cluster's policies. */
  | { readonly type: "policies"; readonly delta: ClusterDelta }
  /** Kinds of policies, as `<plural>.<group>`, that are there but can't be read: of their policies nobody knows. */
  | { readonly type: "unread"; readonly resources: readonly string[] }
  /** The live replicas by name, and which of them this one is. */
  | { readonly type: "replicas"; readonly live: readonly string[]; readonly own: string }
  /** Whether requests come: then the audit takes a small part of a core only. */
  | { readonly type: "busy"; readonly busy: boolean }
  | { readonly type: "stop" };

/** From the one that audits. */
export type FromAuditor =
  /** It has begun, or has missed something: it needs all that it is to know. */
  { readonly type: "wants-all" } | { readonly type: "round"; readonly report: RoundReport };

/** What is told of a round: for metrics and the log. */
export interface RoundReport {
  readonly objects: number;
  readonly evaluated: number;
  readonly milliseconds: number;
  /** Milliseconds since 1970 at its end. */
  readonly ended: number;
  readonly isComplete: boolean;
  /** How many objects each policy came to what for. */
  readonly results: readonly { readonly policy: string; readonly result: Status; readonly objects: number }[];
  /** Lines for the log. */
  readonly problems: readonly string[];
  /** Policies that are not asked though they should be. */
  readonly leftOut: readonly { readonly policy: string; readonly reason: string }[];
  /** Absent: none are written. */
  readonly reports?: { readonly applied: number; readonly deleted: number; readonly unchanged: number };
}
