import { xmlEscaped } from "../../data/xml.js";

/** One test. */
export interface TestResult {
  /** Its file. */
  readonly file: string;
  readonly name: string;
  readonly policy: string;
  readonly milliseconds: number;
  /** The failure; `undefined` when it passed. */
  readonly failure: string | undefined;
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
