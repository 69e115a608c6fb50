/** What `check` found as SARIF 2.1.0, which editors and code scanning read: a rule for each code, a result for each problem. */
import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { formatPath, type Problem } from "../../config/index.js";
import { SARIF_SCHEMA, SARIF_VERSION, sarifMessage } from "../../offline/reports/sarif.js";
import type { CheckedFile } from "./checked-file.js";

/** Where codes are explained, from the root of this project. */
const ERRORS_PAGE = "docs/errors.md";
const NO_CODE = "POLICY_INVALID";

/** The document: JSON with a newline. */
export function checkedSarif(files: readonly CheckedFile[]): string {
  const problems = files.flatMap((file) => file.problems);
  const codes = [...new Set(problems.map(({ code }) => code ?? NO_CODE))].sort();
  const rules = codes.map((code) => ({ id: code, helpUri: `${ERRORS_PAGE}#${code.toLowerCase()}` }));
  const results = problems.map((problem) => resultOf(problem, codes));
  const driver = { name: "policy-server", rules };
  // Columns are counted in code points everywhere here.
  const run = { tool: { driver }, columnKind: "unicodeCodePoints", results };
  return `${JSON.stringify({ $schema: SARIF_SCHEMA, version: SARIF_VERSION, runs: [run] }, undefined, 2)}\n`;
}

function resultOf(problem: Problem, codes: readonly string[]) {
  const { file, line, column, endColumn, severity, path, message, hint, code = NO_CODE } = problem;
  const where = path.length === 0 ? "" : `${formatPath(path)}: `;
  const region = { startLine: line, startColumn: column, ...(endColumn !== undefined && { endColumn }) };
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: sarifMessage(`${where}${message}${hint === undefined ? "" : `\n${hint}`}`),
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region } }],
  };
}

/** Relative to the folder that the command runs in, where the file is in it: so code scanning finds it in a checkout. */
function uriOf(file: string): string {
  const own = isAbsolute(file) ? relative(process.cwd(), file) : file;
  if (own.startsWith("..") || isAbsolute(own)) return pathToFileURL(file).href;
  return own.split(sep).map(encodeURIComponent).join("/");
}
