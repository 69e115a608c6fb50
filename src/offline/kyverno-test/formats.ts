/** The rows of a test for programs: `--output-format` (spec kyverno.md 8.8). */
import { printGoYaml } from "../../data/print-yaml.js";
import { printable } from "../../data/printable.js";
import { xmlEscaped, xmlLines, xmlSection } from "../../data/xml.js";
import type { Row } from "./rows.js";

export const OUTPUT_FORMATS = ["json", "yaml", "markdown", "junit"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The rows in a format, without a line break at the end. */
export function formatRows(rows: readonly Row[], format: OutputFormat, detailed: boolean): string {
  switch (format) {
    case "json":
      return inHtml(
        JSON.stringify(
          rows.map((row) => rowMembers(row, detailed)),
          undefined,
          2,
        ),
      );
    case "yaml":
      return printGoYaml(
        rows.map((row) => rowMembers(row, detailed)),
        Number.POSITIVE_INFINITY,
      );
    case "markdown":
      return markdown(rows, detailed);
    case "junit":
      return junit(rows, detailed);
  }
}

/** A row in Kyverno's format, in Go's order of maps. */
export const rowMembers = ({ id, message, policy, reason, resource, result, rule }: Row, detailed: boolean) => ({
  ID: id,
  ...(detailed && { Message: message }),
  POLICY: policy,
  REASON: reason,
  RESOURCE: resource,
  RESULT: result,
  RULE: rule,
});

/** Escapes HTML's special characters in JSON, as Go's encoder does. */
const inHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

function markdown(rows: readonly Row[], detailed: boolean): string {
  const headings = ["ID", "POLICY", "RULE", "RESOURCE", "RESULT", "REASON", ...(detailed ? ["MESSAGE"] : [])];
  let text = `| ${headings.join(" | ")} | \n|${"----|".repeat(headings.length)}\n`;
  for (const { id, policy, rule, resource, result, reason, message } of rows) {
    const cells = [id, policy, rule, resource, result, reason, ...(detailed ? [message] : [])];
    text += `| ${cells.map(markdownCell).join(" | ")} |\n`;
  }
  return text;
}

/** A foreign text in a cell: on one line, without cell bars, tags, links and pictures. */
const markdownCell = (cell: string | number): string =>
  printable(String(cell)).replace(/[|<&]|\[(?=[^\]]*\][[(:])/g, (character) => `&#${character.charCodeAt(0)};`);

/** One suite for each policy. Unlike Kyverno's, it is valid XML whatever the messages contain. */
function junit(rows: readonly Row[], detailed: boolean): string {
  const suites = new Map<string, Row[]>();
  for (const row of rows) suites.set(row.policy, [...(suites.get(row.policy) ?? []), row]);
  const failures = (of: readonly Row[]) => of.filter(({ counts }) => counts === "fail").length;
  let text = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="${rows.length}" failures="${failures(rows)}">\n`;
  for (const [policy, own] of suites) {
    text += ` <testsuite name="${xmlEscaped(policy)}" tests="${own.length}" failures="${failures(own)}">\n`;
    for (const row of own) text += testCase(row, detailed);
    text += " </testsuite>\n";
  }
  return `${text}</testsuites>`;
}

function testCase({ policy, rule, resource, result, reason, message, counts }: Row, detailed: boolean): string {
  const line = (what: string, text: string): string => `    ${what}: ${text.replaceAll("\n", "\n      ")}\n`;
  const about = line("Policy", policy) + line("Rule", rule) + line("Resource", resource);
  const said = detailed ? line("Message", message) : "";
  const content =
    counts === "fail"
      ? `   <failure message="${xmlEscaped(reason)}">\n${xmlLines(about + line("Result", result) + said)}   </failure>\n`
      : `   <system-out>${xmlSection(`\n${line("Reason", reason)}${about}${said}   `)}</system-out>\n`;
  return `  <testcase classname="${xmlEscaped(rule)}" name="${xmlEscaped(resource)}">\n${content}  </testcase>\n`;
}
