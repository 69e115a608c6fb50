/** Findings of a scan: one entry for each policy that matched a resource (spec kyverno.md 7.1). */
import type { DiffLine } from "../../kinds/explanation/index.js";
import type { Outcome } from "../../policy/index.js";

/** The status of a policy for a resource; `warn` is for reports only. */
export type Status = "pass" | "fail" | "warn" | "error" | "skip";

/** A place in a file. */
export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** A policy in reports. */
export interface ReportedPolicy {
  readonly name: string;
  /** `""` for policies of the whole cluster. */
  readonly namespace: string;
  /** The source, such as `KyvernoValidatingPolicy`. */
  readonly source: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The property `process`; absent: the source has none. */
  readonly process?: string;
  /** Whether resources that it passes over count as skipped. */
  readonly countsSkips: boolean;
  /**
   * Whether all findings except passes are reported one by one, like failures; errors and skips of other policies are only counted, as in Kyverno's
   * command.
   */
  readonly tellsAllButPasses?: true;
  /** Where it is written; absent: in no file. */
  readonly place?: Place | undefined;
}

/** A resource in reports; for a JSON payload its own members of these names. */
export interface ReportedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The finding of a policy on a resource. */
export interface Finding {
  /** Its index among the policies. */
  readonly policy: number;
  /** `""` for most. */
  readonly rule: string;
  readonly status: Exclude<Status, "warn">;
  readonly message: string;
  readonly properties: Readonly<Record<string, string>>;
  /** The names of the exceptions that exempt it, without namespaces. */
  readonly exceptions: readonly string[];
  /** Set where the policy did not match the resource: nothing was judged. */
  readonly unmatched?: true;
  /** The findings of a group's members, where the group passed all the same; of a failure: why signatures of the resource's images do not count. */
  readonly note?: string;
}

const STATUS = { allow: "pass", deny: "fail", error: "error", skip: "skip" } as const;

/** The finding of an outcome, with its whole message. What Audit and Warn found is a failure of the policy, and a note on a group whose member found it. */
export function plainFinding(outcome: Outcome): Omit<Finding, "policy"> {
  const { verdict, auditAnnotations: properties = {}, found = [] } = outcome;
  const message = verdict === "skip" ? outcome.reason : (outcome.message ?? "");
  const plain = { rule: "", status: STATUS[verdict], message, properties, exceptions: [] };
  if (verdict !== "allow" || found.length === 0) return plain;
  const said = found.map((each) => (each.member === undefined ? each.message : `${each.member}: ${each.message}`));
  const all = [...new Set(said)].join("; ");
  return found.some(({ member }) => member === undefined)
    ? { ...plain, status: "fail", message: all }
    : { ...plain, message: message || all, note: all };
}

/** A resource that policies have changed. */
export interface ChangedResource {
  /** As it is now, in YAML. */
  readonly yaml: string;
  /** Its lines before and after. */
  readonly diff: readonly DiffLine[];
}

/** An evaluated resource. */
export interface Scanned {
  readonly resource: ReportedResource;
  /** Findings in the order of policies; only failures if only they are wanted. */
  readonly findings: readonly Finding[];
  readonly counts: Counts;
  /** The resource as policies have changed it; absent: none has. */
  readonly changed?: ChangedResource;
  /** Where the resource is written; absent: in no file. */
  readonly place?: Place | undefined;
}

/** Numbers of findings by status. */
export interface Counts {
  readonly pass: number;
  readonly fail: number;
  readonly error: number;
  readonly skip: number;
  /** Findings of policies that matched, whatever they said. */
  readonly judged: number;
}
