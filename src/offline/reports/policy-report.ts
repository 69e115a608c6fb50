/** Policy reports as resources: one for all cluster-wide policies, and one for each policy of a namespace (spec kyverno.md 7.2 and 8.9). */
import { printGoYaml } from "../../data/print-yaml.js";
import type { Place, ReportedPolicy } from "./finding.js";
import type { ResultEntry } from "./result-entry.js";

/** The API of reports: openreports.io as in Kyverno's command, or the older wgpolicyk8s.io. */
export type ReportFlavour = "openreports.io/v1alpha1" | "wgpolicyk8s.io/v1alpha2";

/** A result with its namespace. */
export interface ReportedEntry {
  readonly policy: ReportedPolicy;
  readonly entry: ResultEntry;
  /** Where the resource is written; absent: in no file. */
  readonly place?: Place | undefined;
}

/** The results of a run as reports, in order; empty without results. */
export function policyReports(
  entries: readonly ReportedEntry[],
  flavour: ReportFlavour,
): readonly Readonly<Record<string, unknown>>[] {
  const clustered = entries.filter(({ policy }) => policy.namespace === "");
  const namespaced = new Map<ReportedPolicy, ReportedEntry[]>();
  for (const each of entries) {
    if (each.policy.namespace === "") continue;
    const own = namespaced.get(each.policy);
    if (own === undefined) namespaced.set(each.policy, [each]);
    else own.push(each);
  }
  const kinds = KINDS[flavour];
  const reports = [...namespaced].map(([{ name, namespace }, own]) =>
    report(flavour, kinds.namespaced, { name, namespace }, own),
  );
  if (clustered.length === 0) return reports;
  return [report(flavour, kinds.clustered, { name: "merged" }, clustered), ...reports];
}

const KINDS = {
  // The reference's name, though the API has a Report.
  "openreports.io/v1alpha1": { clustered: "ClusterReport", namespaced: "PolicyReport" },
  "wgpolicyk8s.io/v1alpha2": { clustered: "ClusterPolicyReport", namespaced: "PolicyReport" },
} as const;

function report(
  flavour: ReportFlavour,
  kind: string,
  metadata: Readonly<Record<string, string>>,
  entries: readonly ReportedEntry[],
): Readonly<Record<string, unknown>> {
  const summary = { pass: 0, fail: 0, warn: 0, error: 0, skip: 0 };
  for (const { entry } of entries) summary[entry.result]++;
  const results = entries.map(({ entry }) => entry);
  return {
    kind,
    apiVersion: flavour,
    metadata,
    // Only the newer API has a source.
    ...(flavour === "openreports.io/v1alpha1" && { source: "" }),
    summary,
    results,
  };
}

/** Reports as text: those of clusters first, each of a namespace after a line with its name. */
export function reportText(reports: readonly Readonly<Record<string, unknown>>[], format: "json" | "yaml"): string {
  return reports
    .map((each) => {
      const text = `${format === "json" ? goJson(each) : printGoYaml(each)}\n`;
      return hasNamespace(each) ? `---\n${text}` : text;
    })
    .join("");
}

const hasNamespace = ({ metadata }: Readonly<Record<string, unknown>>): boolean =>
  typeof metadata === "object" && metadata !== null && "namespace" in metadata;

/** JSON in Go's format, safe for HTML. */
const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
