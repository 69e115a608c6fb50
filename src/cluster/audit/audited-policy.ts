/** A policy as the audit asks it: the very policy of admission, with what its webhook would look at, and what reports say of it. */
import type { PreparedSelector } from "../../kinds/shared/match/label-selector.js";
import type { ReportedPolicy, Status } from "../../offline/reports/finding.js";
import type { Outcome } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { TargetRule } from "./target-rules.js";

/** What a policy has to say of an object. */
export interface AuditFinding {
  readonly status: Status;
  readonly message: string;
  /** The part of the policy that has decided; absent: its validations, or not known. */
  readonly rule?: string;
  /** For the report: the binding, what the policy annotates. */
  readonly properties: Readonly<Record<string, string>>;
  /** Names of the exceptions that exempt the object; absent: none do. */
  readonly exceptions?: readonly string[];
}

/** A policy for the background. */
export interface AuditedPolicy {
  readonly served: ServedPolicy;
  readonly reported: ReportedPolicy;
  readonly rules: readonly TargetRule[];
  /** Whose objects alone it is for; `""`: those of all, and of none. */
  readonly namespace: string;
  /** What its webhook looks at before the policy is asked; absent: the policy looks itself. */
  readonly webhook?: WebhookMatch;
  /** What results of it say beside what was found. */
  readonly properties: Readonly<Record<string, string>>;
  /** Asked as the audit scanner of Kubewarden asks (spec kubewarden.md 11.3): where a guest decides alone. */
  readonly asGuest: boolean;
  /** Whether its answer depends on more than the object, its Namespace and the policy: such objects are asked about in each round. */
  readonly looksElsewhere: boolean;
  /** What its outcome is called in reports; `undefined`: it is not for the object. */
  finding(outcome: Outcome): AuditFinding | undefined;
}

/** What a webhook's own criteria let through. */
export interface WebhookMatch {
  readonly objects: PreparedSelector;
  readonly namespaces: PreparedSelector;
  /** Both as they are written. */
  readonly written: string;
}

/** A policy that is not asked, and why: a line of the summary. */
export interface LeftOut {
  readonly id: string;
  readonly reason: string;
  /** Whether somebody should mend it; else it is as its author wants it. */
  readonly isProblem: boolean;
}
