/** What a scan has to say: one entry for each policy that matched a resource (spec kyverno.md 7.1). */
import type { Outcome } from "../../policy/index.js";

/** What a policy came to for a resource; `warn` is for reports only. */
export type Status = "pass" | "fail" | "warn" | "error" | "skip";

/** What reports say of a policy. */
export interface ReportedPolicy {
  readonly name: string;
  /** `""` for policies of the whole cluster. */
  readonly namespace: string;
  /** What judged, such as `KyvernoValidatingPolicy`. */
  readonly source: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The property `process`; absent: the source has none. */
  readonly process?: string;
  /** Whether what it passes over counts as skipped. */
  readonly countsSkips: boolean;
  /** All that is no pass is told one by one, as failures are; errors and skips of others are only counted, as Kyverno's command does. */
  readonly tellsAllButPasses?: true;
}

/** What reports say of a resource; for a JSON payload what it happens to say of itself. */
export interface ReportedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What a policy has to say of a resource. */
export interface Finding {
  /** Its place among the policies. */
  readonly policy: number;
  /** `""` for most. */
  readonly rule: string;
  readonly status: Exclude<Status, "warn">;
  readonly message: string;
  readonly properties: Readonly<Record<string, string>>;
  /** The names of the exceptions that exempt it, without namespaces. */
  readonly exceptions: readonly string[];
}

const STATUS = { allow: "pass", deny: "fail", error: "error", skip: "skip" } as const;

/** What a policy has to say of a resource by its outcome, whose message stands whole. */
export function plainFinding(outcome: Outcome): Omit<Finding, "policy"> {
  const { verdict, auditAnnotations: properties = {} } = outcome;
  const message = verdict === "skip" ? outcome.reason : (outcome.message ?? "");
  return { rule: "", status: STATUS[verdict], message, properties, exceptions: [] };
}

/** A resource that was looked at. */
export interface Scanned {
  readonly resource: ReportedResource;
  /** In the order of policies; where only failures are wanted nothing else. */
  readonly findings: readonly Finding[];
  readonly counts: Counts;
}

/** How often each status was found. */
export interface Counts {
  readonly pass: number;
  readonly fail: number;
  readonly error: number;
  readonly skip: number;
}
