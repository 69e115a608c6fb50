/** Problems as the page shows them. */
import { dirname, join } from "node:path";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { formatPath, type Problem } from "../../config/index.js";
import type { PageProblem } from "../api.js";
import { ENTRY_FILE } from "./draft.js";

/** Problems that are told: more can't be read. */
const MAX_PROBLEMS = 200;

/**
 * Those of a draft, and of the files that it names, by place.
 * @param file the draft's
 * @param files all that it has read
 */
export function pageProblems(problems: readonly Problem[], file: string, files: readonly string[]): PageProblem[] {
  const folder = `${dirname(file)}/`;
  const named = new Set([file, join(folder, ENTRY_FILE), ...files]);
  return problems
    .filter((problem) => named.has(problem.file))
    .flatMap(eachMistake)
    .map((problem) => pageProblem(problem, file, folder))
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_PROBLEMS);
}

/** Messages quote expressions, and say behind them what is wrong. */
const MAX_MESSAGE = 4_000;

function shortened(message: string): string {
  const half = MAX_MESSAGE / 2;
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, half)} … ${message.slice(-half)}`;
}

function pageProblem(problem: Problem, file: string, folder: string): PageProblem {
  const { severity, line, column, path, endColumn, code, hint } = problem;
  const isOwn = problem.file === file;
  // Nobody needs to know where the folder lies.
  const message = shortened(problem.message.replaceAll(folder, ""));
  const place = `${problem.file.replace(folder, "")}:${line}:${column}: `;
  const isGenerated = problem.file === `${folder}${ENTRY_FILE}`;
  return {
    severity,
    line: isOwn ? line : 1,
    column: isOwn ? column : 1,
    ...(isOwn && endColumn !== undefined && { endColumn }),
    path: isOwn ? formatPath(path) : "",
    message: isOwn || isGenerated ? message : place + message,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
  };
}
