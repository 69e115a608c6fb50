/** A problem of a configuration file, with its place. */
import type { ProblemCode } from "./problem-codes.js";

/** The path of a value in a document: map keys and list indices from the root. */
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

/** One error or warning. */
export interface Problem extends Position {
  /** A note is advice about a policy that may come from others: it never fails a check. */
  readonly severity: "error" | "warning" | "note";
  readonly path: Path;
  /** The error, the expected value, and a suggestion where there is one; no trailing full stop. */
  readonly message: string;
  /** The kind of mistake, with a section in docs/errors.md: `CONFIG_UNKNOWN_KEY` … */
  readonly code?: ProblemCode;
  /** A proposed correction, where one is known: `write startsWith`. */
  readonly hint?: string;
  /** Of an expression: all of which the message tells, each at its own place in the file. */
  readonly mistakes?: readonly Pick<Problem, "line" | "column" | "message" | "hint">[];
  /** Where the mistake ends in its line, 1-based, in code points, exclusive; absent: not known, or in another line. */
  readonly endColumn?: number;
  /** Of `check --upgrade`: the request that two releases of Kubernetes decide differently, and what else decides. */
  readonly witness?: { readonly [key: string]: unknown };
}

/** `file:line:column: path: message`, the form that editors and terminals make clickable. */
export function formatProblem(problem: Problem): string {
  const path = problem.path.length === 0 ? "" : `${formatPath(problem.path)}: `;
  const severity = problem.severity === "error" ? "" : `${problem.severity}: `;
  return `${problem.file}:${problem.line}:${problem.column}: ${severity}${path}${problem.message}`;
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

/** The order by file, then place. */
export function comparePlaces(left: Problem, right: Problem): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}
