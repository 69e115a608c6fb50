/** Results as JUnit XML: a suite for each policy, a case for each resource. */
import { xmlEscaped } from "../../data/xml.js";
import type { ReportedEntry } from "./policy-report.js";
import type { ObjectReference } from "./result-entry.js";

/** The document. */
export function junitReport(entries: readonly ReportedEntry[]): string {
  const suites = new Map<string, ReportedEntry[]>();
  for (const each of entries) {
    const { policy } = each.entry;
    const own = suites.get(policy);
    if (own === undefined) suites.set(policy, [each]);
    else own.push(each);
  }
  const texts = [...suites].map(([policy, own]) => suite(policy, own));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${texts.join("")}</testsuites>\n`;
}

function suite(policy: string, entries: readonly ReportedEntry[]): string {
  const count = (result: string) => entries.filter(({ entry }) => entry.result === result).length;
  const counts = `tests="${entries.length}" failures="${count("fail")}" errors="${count("error")}" skipped="${count("skip")}"`;
  return `  <testsuite name="${xmlEscaped(policy)}" ${counts}>\n${entries.map(testCase).join("")}  </testsuite>\n`;
}

function testCase({ entry: { policy, rule, result, message = "", resources } }: ReportedEntry): string {
  const name = resourceName(resources[0]);
  const attributes = `classname="${xmlEscaped(rule === undefined ? policy : `${policy}.${rule}`)}" name="${xmlEscaped(name)}"`;
  const told = `message="${xmlEscaped(message)}"`;
  switch (result) {
    case "fail":
      return `    <testcase ${attributes}>\n      <failure ${told}/>\n    </testcase>\n`;
    case "error":
      return `    <testcase ${attributes}>\n      <error ${told}/>\n    </testcase>\n`;
    case "skip":
      return `    <testcase ${attributes}>\n      <skipped ${told}/>\n    </testcase>\n`;
    case "warn":
      return `    <testcase ${attributes}>\n      <system-out>warning: ${xmlEscaped(message)}</system-out>\n    </testcase>\n`;
    default:
      return `    <testcase ${attributes}/>\n`;
  }
}

/** `apiVersion/Kind/namespace/name` with the known parts. */
export function resourceName({ apiVersion, kind, namespace, name }: ObjectReference = {}): string {
  const parts = [apiVersion, kind, namespace, name].filter((part) => part !== undefined);
  return parts.length === 0 ? "JSON payload" : parts.join("/");
}
