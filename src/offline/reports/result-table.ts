/** Results as a table (spec kyverno.md 8.9). */
import type { Finding, ReportedPolicy, ReportedResource, Status } from "./finding.js";
import { resultOf } from "./result-entry.js";
import { type Cell, COLORS, type Colored, drawTable } from "./text-table.js";

/** A row. */
export interface ResultRow {
  readonly policy: ReportedPolicy;
  readonly finding: Finding;
  readonly resource: ReportedResource;
}

/** Options of the table. */
export interface ResultTableOptions {
  /** Whether to show messages. */
  readonly detailed: boolean;
  readonly color: boolean;
  readonly auditWarn: boolean;
}

/** The table; empty without rows. */
export function resultTable(rows: readonly ResultRow[], { detailed, color, auditWarn }: ResultTableOptions): string {
  const headings = ["ID", "POLICY", "RULE", "RESOURCE", "RESULT", "REASON", ...(detailed ? ["MESSAGE"] : [])];
  const cells = rows.map(({ policy, finding, resource }, index): Cell[] => {
    const result = resultOf(finding.status, policy, auditWarn);
    const { kind, namespace, name } = resource;
    return [
      String(index + 1),
      path(policy.namespace, policy.name),
      "",
      namespace === "" ? joined([kind, name]) : joined([namespace, kind, name]),
      [{ text: RESULTS[result], color: RESULT_COLORS[result] }],
      "",
      ...(detailed ? [finding.message] : []),
    ];
  });
  return drawTable(headings, cells, color);
}

const RESULTS: Readonly<Record<Status, string>> = {
  pass: "Pass",
  fail: "Fail",
  warn: "Warn",
  error: "Error",
  skip: "Skip",
};
const RESULT_COLORS: Readonly<Record<Status, string>> = {
  pass: COLORS.good,
  fail: COLORS.bad,
  warn: COLORS.notable,
  error: COLORS.bad,
  skip: COLORS.name,
};

const path = (namespace: string, name: string): Cell => joined(namespace === "" ? [name] : [namespace, name]);

/** The parts of a name, each in its colour. */
const joined = (parts: readonly string[]): Colored[] =>
  parts.flatMap((text, index) => [...(index > 0 ? [{ text: "/" }] : []), { text, color: COLORS.name }]);
