/** Results of `test` for CI systems. */

import { xmlEscaped } from "../../data/xml.js";
import type { Place } from "../../offline/reports/finding.js";
import { type SarifDocument, sarifDocument } from "../../offline/reports/sarif.js";

/** One test. */
export interface TestResult {
  /** Its file. */
  readonly file: string;
  readonly name: string;
  readonly policy: string;
  readonly milliseconds: number;
  /** The failure; `undefined` when it passed. */
  readonly failure: string | undefined;
  /** The place of the failed expectation; absent: the file. */
  readonly place?: Place | undefined;
}

/** Failed tests as SARIF: a rule for each policy. */
export function testSarif(results: readonly TestResult[]): SarifDocument {
  const failed = results.filter(({ failure }) => failure !== undefined);
  const ruleOf = ({ policy }: TestResult): string => (policy === "" ? "test" : policy);
  return sarifDocument(
    failed.map((result) => ({ id: ruleOf(result), help: "Change the policy, or what the test expects of it." })),
    failed.map((result) => ({
      rule: ruleOf(result),
      level: "error",
      text: `${result.name}: ${result.failure ?? ""}`,
      place: result.place ?? { file: result.file, line: 1 },
    })),
  );
}

/** Test results as JUnit XML, which CI systems read. */
export function junitXml(results: readonly TestResult[]): string {
  const files = new Map<string, TestResult[]>();
  for (const result of results) files.set(result.file, [...(files.get(result.file) ?? []), result]);
  const suites = [...files].map(([file, tests]) => {
    const failures = tests.filter(({ failure }) => failure !== undefined).length;
    const attributes = `name="${xmlEscaped(file)}" tests="${tests.length}" failures="${failures}" time="${seconds(tests)}"`;
    return `  <testsuite ${attributes}>\n${tests.map(testCase).join("")}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("")}</testsuites>\n`;
}

function testCase(result: TestResult): string {
  const attributes = `classname="${xmlEscaped(result.policy)}" name="${xmlEscaped(result.name)}" time="${seconds([result])}"`;
  if (result.failure === undefined) return `    <testcase ${attributes}/>\n`;
  return `    <testcase ${attributes}>\n      <failure message="${xmlEscaped(result.failure)}"/>\n    </testcase>\n`;
}

const seconds = (results: readonly TestResult[]): string =>
  (results.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000).toFixed(6);
