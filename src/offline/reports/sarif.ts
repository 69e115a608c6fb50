/** Results as SARIF 2.1.0, which code scanning reads: a rule for each policy, a result for each failure, warning and error. */
import { escapedLines } from "../../data/printable.js";
import type { ReportedPolicy } from "./finding.js";
import { resourceName } from "./junit.js";
import type { ReportedEntry } from "./policy-report.js";
import { qualifiedName, severityOf } from "./result-entry.js";

/** The schema of every document. */
export const SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";
/** The version of the format. */
export const SARIF_VERSION = "2.1.0";
const TITLE = "policies.kyverno.io/title";
const DESCRIPTION = "policies.kyverno.io/description";

/** Scores for the order in code scanning: a number from 0 to 10 as a text. */
const SCORES: Readonly<Record<string, string>> = {
  critical: "9.5",
  high: "8.0",
  medium: "5.5",
  low: "3.0",
  info: "0.0",
};

/** The document: JSON with a newline. */
export function sarifReport(entries: readonly ReportedEntry[], policies: readonly ReportedPolicy[]): string {
  const rules = new Map(policies.map((policy, index) => [policy, index]));
  const results = entries.flatMap(({ policy, entry }) => {
    const level = LEVELS[entry.result];
    if (level === undefined) return [];
    const name = resourceName(entry.resources[0]);
    return [
      {
        ruleId: qualifiedName(policy),
        ruleIndex: rules.get(policy) ?? -1,
        level,
        message: sarifMessage(`${name}: ${entry.message ?? entry.result}`),
        locations: [{ logicalLocations: [{ fullyQualifiedName: name, kind: "resource" }] }],
        partialFingerprints: { "policyResource/v1": `${qualifiedName(policy)}/${name}` },
        properties: { ...entry.properties },
      },
    ];
  });
  const driver = {
    name: "policy-server",
    rules: policies.map(ruleOf),
  };
  const document = { $schema: SARIF_SCHEMA, version: SARIF_VERSION, runs: [{ tool: { driver }, results }] };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** A foreign text without links (3.11.6), which would lead where its author wants in lists of code scanning. */
export const sarifMessage = (text: string): { readonly text: string } => ({
  text: escapedLines(text).replace(/\[(?=[^\]]*\]\()/g, "\\["),
});

const LEVELS: Readonly<Record<string, string>> = { fail: "error", error: "error", warn: "warning" };

function ruleOf(policy: ReportedPolicy): Readonly<Record<string, unknown>> {
  const { annotations } = policy;
  const severity = severityOf(policy);
  const [title, description] = [annotations[TITLE], annotations[DESCRIPTION]?.trim()];
  return {
    id: qualifiedName(policy),
    ...(title && { shortDescription: sarifMessage(title) }),
    ...(description && { fullDescription: sarifMessage(description) }),
    properties: {
      source: policy.source,
      ...(severity !== undefined && { "security-severity": SCORES[severity], severity }),
    },
  };
}
