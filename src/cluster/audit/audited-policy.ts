/** A policy for the audit: that of admission, with the criteria of its webhook, and its properties in reports. */
import type { PreparedSelector } from "../../kinds/shared/match/label-selector.js";
import type { ReportedPolicy, Status } from "../../offline/reports/finding.js";
import type { Outcome } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { TargetRule } from "./target-rules.js";

/** A policy's finding on an object. */
export interface AuditFinding {
  readonly status: Status;
  readonly message: string;
  /** The deciding part of the policy; absent: its validations, or unknown. */
  readonly rule?: string;
  /** Properties in the report: the binding, the policy's annotations. */
  readonly properties: Readonly<Record<string, string>>;
  /** Names of the exceptions that exempt the object; absent: none do. */
  readonly exceptions?: readonly string[];
}

/** A policy for the background. */
export interface AuditedPolicy {
  readonly served: ServedPolicy;
  readonly reported: ReportedPolicy;
  readonly rules: readonly TargetRule[];
  /** The only namespace of its objects; `""`: all, and cluster-scoped objects. */
  readonly namespace: string;
  /** Whether the policy sees the Namespaces that the audit sees: not others that stand beside it in a file. */
  readonly seesNamespaces: boolean;
  /** The criteria of its webhook; absent: the policy checks them itself. */
  readonly webhook?: WebhookMatch;
  /** Properties of all its results. */
  readonly properties: Readonly<Record<string, string>>;
  /** Whether its request is that of Kubewarden's audit scanner (spec kubewarden.md 11.3): for policies with only a guest. */
  readonly asGuest: boolean;
  /** Whether its answer depends on more than the object, its Namespace and the policy: such objects are evaluated in each round. */
  readonly looksElsewhere: boolean;
  /** The finding of its outcome for reports; `undefined`: it does not match the object. */
  finding(outcome: Outcome): AuditFinding | undefined;
}

/** The criteria of a webhook. */
export interface WebhookMatch {
  readonly objects: PreparedSelector;
  readonly namespaces: PreparedSelector;
  /** Both as written. */
  readonly written: string;
}

/** A policy that is not evaluated, with the reason: a line of the summary. */
export interface LeftOut {
  readonly id: string;
  readonly reason: string;
  /** Whether it is a problem; otherwise its author has excluded it. */
  readonly isProblem: boolean;
}
