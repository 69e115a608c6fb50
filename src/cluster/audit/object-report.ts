/** Makes the audit's report on one object: a resource of OpenReports, or of the older wgpolicyk8s.io. */
import type { ReportedResource, Status } from "../../offline/reports/finding.js";
import type { ReportFlavour } from "../../offline/reports/policy-report.js";
import { type ResultEntry, resultEntry } from "../../offline/reports/result-entry.js";
import type { Findings } from "./ask-policies.js";
import {
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PROPERTIES,
  MAX_PROPERTY_LENGTH,
  MAX_REPORT_BYTES,
  MAX_REPORT_RESULTS,
  MAX_RESULT_BYTES,
  MAX_WORD_LENGTH,
} from "./audit-limits.js";
import type { AuditedPolicy, AuditFinding } from "./audited-policy.js";
import { FIRST_SEED, hashText, SECOND_SEED } from "./text-hash.js";

// Results of bounded size: authors of policies, and of the objects that messages quote, choose their length, and etcd accepts 1.5 MiB. Each result is
// cut by itself, so that a long one takes no other's room.

/** A result with long texts cut, to {@link MAX_RESULT_BYTES} in all; its object, which the report has once for all results, does not count. */
function boundedEntry(entry: ResultEntry): ResultEntry {
  const { source, policy, rule, category, message, properties, ...others } = entry;
  const told = {
    ...others,
    source: cut(source, MAX_WORD_LENGTH),
    policy: cut(policy, MAX_NAME_LENGTH),
    ...(rule !== undefined && { rule: cut(rule, MAX_WORD_LENGTH) }),
    ...(category !== undefined && { category: cut(category, MAX_WORD_LENGTH) }),
    // The remaining bytes are for properties.
    ...(message !== undefined && { message: cut(message, MAX_MESSAGE_LENGTH, MAX_RESULT_BYTES / 2) }),
  };
  const room = MAX_RESULT_BYTES - storedBytes({ ...told, resources: undefined });
  return properties === undefined ? told : { ...told, properties: boundedProperties(properties, room) };
}

/** @param left bytes for all of them: each gets its share of the remaining bytes */
function boundedProperties(properties: Readonly<Record<string, string>>, left: number) {
  const some = Object.entries(properties).slice(0, MAX_PROPERTIES);
  const bounded = new Map<string, string>();
  for (const [index, [name, value]] of some.entries()) {
    const part = left / (some.length - index);
    const key = cut(name, MAX_WORD_LENGTH, part / 2);
    // Of names with the same beginning the first counts.
    if (bounded.has(key)) continue;
    const text = cut(value, MAX_PROPERTY_LENGTH, part - storedBytes(key) - PUNCTUATION);
    bounded.set(key, text);
    left -= storedBytes(key) + storedBytes(text) + PUNCTUATION;
  }
  return Object.fromEntries(bounded);
}

/** A colon and a comma. */
const PUNCTUATION = 2;

/** Bytes of a value in the API server's store: Go's JSON, which escapes more characters than others. */
const storedBytes = (value: unknown): number => {
  const text = JSON.stringify(value);
  let bytes = Buffer.byteLength(text);
  for (const character of text.matchAll(ESCAPED_BY_GO)) bytes += ESCAPE_BYTES - Buffer.byteLength(character[0]);
  return bytes;
};

const ESCAPED_BY_GO = /[<>&\u2028\u2029]|\\[bf]/g;
const ESCAPE_BYTES = 6;

/** Cuts a text between characters, with an ellipsis: to about the longest beginning that fits. */
function cut(text: string, length: number, bytes = Number.POSITIVE_INFINITY): string {
  if (text.length <= length && storedBytes(text) <= bytes) return text;
  for (let most = length; most > 1; most = Math.floor(most * SHORTER)) {
    const beginning = text.slice(0, most - 1);
    // Without half a character at its end.
    const some = `${/[\ud800-\udbff]$/.test(beginning) ? beginning.slice(0, -1) : beginning}…`;
    if (storedBytes(some) <= bytes) return some;
  }
  return "";
}

const SHORTER = 0.75;

/** The writer of a report. */
export const MANAGED_BY = "policy-server";
const MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
/** The author of a report. Several may report on one object: none changes or deletes another's report. */
export const AUTHOR_LABEL = "policy-server.admission/audited-by";
/** The author of the command's reports. Names of servers have no dots. */
export const COMMAND_AUTHOR = "audit.command";
/** Hash of the report's content without its times: an equal report is not written again. */
export const CONTENT_ANNOTATION = "policy-server.admission/content";

/** The resources of reports in an API group. */
export interface ReportApi {
  readonly flavour: ReportFlavour;
  readonly namespaced: { readonly kind: string; readonly plural: string };
  readonly clustered: { readonly kind: string; readonly plural: string };
}

/** The API groups. */
export const REPORT_APIS: Readonly<Record<"openreports" | "wgpolicyk8s", ReportApi>> = {
  openreports: {
    flavour: "openreports.io/v1alpha1",
    namespaced: { kind: "Report", plural: "reports" },
    clustered: { kind: "ClusterReport", plural: "clusterreports" },
  },
  wgpolicyk8s: {
    flavour: "wgpolicyk8s.io/v1alpha2",
    namespaced: { kind: "PolicyReport", plural: "policyreports" },
    clustered: { kind: "ClusterPolicyReport", plural: "clusterpolicyreports" },
  },
};

/** The author of reports, and their format. */
export interface ReportAuthor {
  readonly api: ReportApi;
  /** A server's name, or {@link COMMAND_AUTHOR}: in the form for labels and names of objects. */
  readonly author: string;
}

/** A report to be written. */
export interface ObjectReport {
  readonly resource: ReportedResource;
  /** The whole resource, to be applied. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Hash of its content: never 0. */
  readonly content: number;
  readonly entries: readonly { readonly policy: AuditedPolicy; readonly entry: ResultEntry }[];
}

const WORTH: ReadonlySet<Status> = new Set<Status>(["fail", "warn", "error"]);

/** The name of an author's report on an object. */
export const reportName = (uid: string, author: string): string => `${uid}-${author}`;

/** The uid in the name of an author's report; `undefined` for any other name. */
export const uidOfReport = (name: string, author: string): string | undefined =>
  name.endsWith(`-${author}`) ? name.slice(0, -author.length - 1) : undefined;

/**
 * The report on an object; `undefined` without objections: passes are only in the metrics.
 * @param time seconds since 1970
 */
export function objectReport(
  { api, author }: ReportAuthor,
  resource: ReportedResource,
  findings: Findings,
  time: number,
): ObjectReport | undefined {
  if (!findings.some(({ finding }) => WORTH.has(finding.status))) return undefined;
  const summary = { pass: 0, fail: 0, warn: 0, error: 0, skip: 0 };
  const found: { policy: AuditedPolicy; entry: ResultEntry }[] = [];
  for (const { policy, finding } of findings) {
    const entry = entryOf(policy, finding, resource, time);
    summary[entry.result]++;
    if (entry.result !== "pass") found.push({ policy, entry });
  }
  const { apiVersion, kind, name, uid, namespace } = resource;
  const within = namespace === "" ? {} : { namespace };
  const metadata = {
    name: reportName(uid, author),
    ...within,
    labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [AUTHOR_LABEL]: author },
    annotations: { [CONTENT_ANNOTATION]: "0".repeat(16) },
    ownerReferences: [{ apiVersion, kind, name, uid }],
  };
  const around = {
    apiVersion: api.flavour,
    kind: namespace === "" ? api.clustered.kind : api.namespaced.kind,
    metadata,
    ...(api.flavour === "openreports.io/v1alpha1" && { source: MANAGED_BY }),
    scope: { apiVersion, kind, ...within, name, uid },
    summary,
    results: [],
  };
  const entries = withRoom(inOrder(found), MAX_REPORT_BYTES - storedBytes(around));
  const results = entries.map(({ entry }) => withoutResource(entry));
  const said = JSON.stringify([summary, results.map(({ timestamp: _, ...others }) => others)]);
  const content = hashText(said, FIRST_SEED) || 1;
  const annotations = { [CONTENT_ANNOTATION]: `${hex(content)}${hex(hashText(said, SECOND_SEED))}` };
  const body = { ...around, metadata: { ...metadata, annotations }, results };
  return { resource, body, content, entries };
}

/** The number that a report's annotation begins with; 0 when it has none. */
export const contentOf = (annotation: string): number => Number.parseInt(annotation.slice(0, 8), 16) || 0;

const hex = (value: number): string => value.toString(16).padStart(8, "0");

/** The report's scope names the object once for all results. */
const withoutResource = ({ resources: _, ...entry }: ResultEntry) => entry;

function entryOf(
  { reported, served, properties: common }: AuditedPolicy,
  { status, message, rule = "", properties, exceptions = [] }: AuditFinding,
  resource: ReportedResource,
  time: number,
): ResultEntry {
  const finding = {
    policy: 0,
    rule,
    status: status === "warn" ? ("fail" as const) : status,
    message,
    properties: { ...common, ...properties },
    exceptions: exceptions.slice(0, MAX_PROPERTIES),
  };
  const entry = boundedEntry(resultEntry(reported, finding, resource, { auditWarn: status === "warn", time }));
  // As in Kubewarden's scanner: findings of monitoring policies are informational.
  return served.mode === "monitor" ? { ...entry, severity: "info" } : entry;
}

type Reported = ObjectReport["entries"][number];

/** Orders results: those of policies for the whole cluster first, then one of each namespace in turn: a namespace with many takes no room of another. */
function inOrder(results: readonly Reported[]): readonly Reported[] {
  const turns = new Map<string, number>();
  const placed = results.map((result) => {
    const owner = result.policy.namespace || result.policy.reported.namespace;
    if (owner === "") return { result, turn: 0 };
    const turn = (turns.get(owner) ?? 0) + 1;
    turns.set(owner, turn);
    return { result, turn };
  });
  return placed.sort((a, b) => a.turn - b.turn).map(({ result }) => result);
}

/** The results that fit into this many bytes. */
function withRoom(results: readonly Reported[], bytes: number): readonly Reported[] {
  let left = bytes;
  return results.slice(0, MAX_REPORT_RESULTS).filter(({ entry }) => {
    left -= storedBytes(withoutResource(entry)) + COMMA;
    return left >= 0;
  });
}

const COMMA = 1;
