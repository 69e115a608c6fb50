/** What `check` found, for programs. */
import { formatPath, type Problem } from "../../config/index.js";
import type { CheckedFile } from "./checked-file.js";

/** One file as an object; several as a list under `files`. JSON with a newline. */
export function checkedJson(files: readonly CheckedFile[]): string {
  const [only, ...others] = files.map(fileValue);
  const value = others.length === 0 && only !== undefined ? only : { files: files.map(fileValue) };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function fileValue({ file, policies, errors, warnings, problems }: CheckedFile) {
  return { file, policies, errors, warnings, problems: problems.map(problemValue) };
}

function problemValue({ file, line, column, endColumn, severity, code, path, message, hint }: Problem) {
  return { file, line, column, endColumn, severity, code, path: formatPath(path), message, hint };
}
