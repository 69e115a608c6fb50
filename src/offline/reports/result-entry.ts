/** One result in reports (spec kyverno.md 7.1). */
import type { Finding, ReportedPolicy, ReportedResource, Status } from "./finding.js";

/** An object reference; empty parts are absent. */
export type ObjectReference = Partial<ReportedResource>;

/** A result; absent members are left out. */
export interface ResultEntry {
  readonly source: string;
  /** `name`, or `namespace/name`. */
  readonly policy: string;
  readonly rule?: string;
  readonly category?: string;
  readonly severity?: string;
  readonly timestamp: { readonly seconds: number; readonly nanos: 0 };
  readonly result: Status;
  readonly scored?: true;
  readonly resources: readonly ObjectReference[];
  readonly message?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** Options of entries. */
export interface EntryOptions {
  /** Whether failures of policies are warnings. */
  readonly auditWarn: boolean;
  /** Seconds since 1970. */
  readonly time: number;
}

const SCORED = "policies.kyverno.io/scored";
const CATEGORY = "policies.kyverno.io/category";
const SEVERITY = "policies.kyverno.io/severity";
const SEVERITIES: ReadonlySet<string> = new Set(["critical", "high", "medium", "low", "info"]);

/** Whether failures of the policy count; those of others are warnings. */
const isScored = ({ annotations }: Pick<ReportedPolicy, "annotations">): boolean => annotations[SCORED] !== "false";

/** The severity of a failure of the policy; `undefined`: not declared. */
export function severityOf({ annotations }: Pick<ReportedPolicy, "annotations">): string | undefined {
  const severity = annotations[SEVERITY] ?? "";
  return SEVERITIES.has(severity) ? severity : undefined;
}

/** The result of a finding in reports. */
export const resultOf = (status: Finding["status"], policy: ReportedPolicy, auditWarn: boolean): Status =>
  status === "fail" && (auditWarn || !isScored(policy)) ? "warn" : status;

/** `name`, or `namespace/name`. */
export const qualifiedName = ({ name, namespace }: Pick<ReportedPolicy, "name" | "namespace">): string =>
  namespace === "" ? name : `${namespace}/${name}`;

/** The entry of a finding. */
export function resultEntry(
  policy: ReportedPolicy,
  { rule, status, message, properties: found, exceptions }: Finding,
  resource: ReportedResource,
  { auditWarn, time }: EntryOptions,
): ResultEntry {
  const { source, annotations, process } = policy;
  const severity = severityOf(policy);
  const told = overridden(message, status, found);
  const category = annotations[CATEGORY] ?? "";
  const properties = {
    ...found,
    ...(process !== undefined && { process }),
    ...(exceptions.length > 0 && { exceptions: exceptions.join(",") }),
  };
  return {
    source,
    policy: qualifiedName(policy),
    ...(rule !== "" && { rule }),
    ...(category !== "" && { category }),
    ...(severity !== undefined && { severity }),
    timestamp: { seconds: time, nanos: 0 },
    result: resultOf(status, policy, auditWarn),
    ...(isScored(policy) && { scored: true as const }),
    resources: [referenceTo(resource)],
    ...(told !== "" && { message: told }),
    ...(Object.keys(properties).length > 0 && { properties: sorted(properties) }),
  };
}

/** The message from the policy's annotations, if any: that for the result takes precedence, then that for any result. */
function overridden(message: string, status: Finding["status"], properties: Readonly<Record<string, string>>): string {
  return properties.message || properties[`${status}Message`] || message;
}

/** An object reference, in the order of Go's structs, which JSON shows. */
function referenceTo({ kind, namespace, name, uid, apiVersion, resourceVersion }: ReportedResource): ObjectReference {
  return {
    ...(kind !== "" && { kind }),
    ...(namespace !== "" && { namespace }),
    ...(name !== "" && { name }),
    ...(uid !== "" && { uid }),
    ...(apiVersion !== "" && { apiVersion }),
    ...(resourceVersion !== "" && { resourceVersion }),
  };
}

/** A map in the order of its keys, as Go prints it. */
const sorted = (map: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
