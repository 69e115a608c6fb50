/** Messages between the serving process and the auditor. */
import type { ClusterDelta } from "../../config/from-cluster/index.js";
import type { Status } from "../../offline/reports/finding.js";

/** The environment variable of an auditor: `true`. */
export const AUDITOR_VARIABLE = "POLICY_SERVER_AUDITOR";

/** Messages to the auditor. */
export type ToAuditor =
  /** Changes of the cluster's policies. */
  | { readonly type: "policies"; readonly delta: ClusterDelta }
  /** Kinds of policies, as `<plural>.<group>`, that exist but can't be read: their policies are unknown. */
  | { readonly type: "unread"; readonly resources: readonly string[] }
  /** The live replicas by name, and the name of this one. */
  | { readonly type: "replicas"; readonly live: readonly string[]; readonly own: string }
  /** Whether requests come: then the audit uses only a small part of a core. */
  | { readonly type: "busy"; readonly busy: boolean }
  | { readonly type: "stop" };

/** Messages from the auditor. */
export type FromAuditor =
  /** The auditor has started, or has missed something: it needs the whole state. */
  { readonly type: "wants-all" } | { readonly type: "round"; readonly report: RoundReport };

/** The report on a round, for metrics and the log. */
export interface RoundReport {
  readonly objects: number;
  readonly evaluated: number;
  readonly milliseconds: number;
  /** Milliseconds since 1970 at its end. */
  readonly ended: number;
  readonly isComplete: boolean;
  /** Numbers of objects by policy and status. */
  readonly results: readonly { readonly policy: string; readonly result: Status; readonly objects: number }[];
  /** Lines for the log. */
  readonly problems: readonly string[];
  /** Policies that should be evaluated, but are not. */
  readonly leftOut: readonly { readonly policy: string; readonly reason: string }[];
  /** Counts of reports; absent: none are written. */
  readonly reports?: { readonly applied: number; readonly deleted: number; readonly unchanged: number };
}
