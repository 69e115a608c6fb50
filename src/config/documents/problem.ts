/** What is wrong in a configuration file, and where. */
import type { ProblemCode } from "./problem-codes.js";

/** Where a value stands in a document: map keys and list indices from the root. */
export type Path = readonly (string | number)[];

/** A place in a file. */
export interface Position {
  /** The file as it was named. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

/** One mistake (`error`) or doubtful thing (`warning`). */
export interface Problem extends Position {
  readonly severity: "error" | "warning";
  readonly path: Path;
  /** What is wrong, what was expected, and a suggestion where there is one; no trailing full stop. */
  readonly message: string;
  /** The kind of mistake, with a section in docs/errors.md: `CONFIG_UNKNOWN_KEY` … */
  readonly code?: ProblemCode;
  /** What to write instead, where that is known: `write startsWith`. */
  readonly hint?: string;
  /** Of an expression: all of which the message tells, each at its own place in the file. */
  readonly mistakes?: readonly Pick<Problem, "line" | "column" | "message" | "hint">[];
  /** Where the mistake ends in its line, 1-based, in code points, exclusive; absent: not known, or in another line. */
  readonly endColumn?: number;
}

/** `file:line:column: path: message`, as editors and terminals make it clickable. */
export function formatProblem(problem: Problem): string {
  const path = problem.path.length === 0 ? "" : `${formatPath(problem.path)}: `;
  const warning = problem.severity === "warning" ? "warning: " : "";
  return `${problem.file}:${problem.line}:${problem.column}: ${warning}${path}${problem.message}`;
}

/** `workloads.policies.exempt`, `p.cel.validations[0]`, `p.settings["odd key"]`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\p{L}\p{N}_-]+$/u.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** By file, then place. */
export function comparePlaces(left: Problem, right: Problem): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}
