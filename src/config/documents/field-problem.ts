/** Mistakes of fields as problems at their places: those of an expression are placed inside of it. */
import { member } from "../../kubernetes/object.js";
import type { Path, Problem } from "./problem.js";
import type { ProblemCode } from "./problem-codes.js";
import type { InnerPlace, SourceDocument } from "./source-document.js";

/** A mistake of a field, in the words of its checker. */
export interface FieldMistake {
  readonly path: Path;
  readonly text: string;
  /** A proposed correction. */
  readonly hint?: string | undefined;
  /** The same, for each mistake of an expression that has several. */
  readonly hints?: readonly (string | undefined)[] | undefined;
  /** The code of a mistake in an expression. */
  readonly code?: ProblemCode | undefined;
}

/** The mistake as a problem, with the wrong word where the text names a place in the expression there. */
export function fieldProblem(
  document: Pick<SourceDocument, "value" | "problem">,
  severity: Problem["severity"],
  { path, text, hint, hints, code }: FieldMistake,
): Problem {
  const inner = placeInside(text);
  const problem = document.problem(severity, path, text, inner);
  const end = inner && endOfWord(stringAt(document.value, path), inner);
  const after = end && document.problem(severity, path, text, end);
  return {
    ...problem,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    ...(hints !== undefined && { hints }),
    ...(after?.line === problem.line && after.column > problem.column && { endColumn: after.column }),
  };
}

/** The place of an expression's first mistake inside the expression, when the text has one in the engine's form. */
export function placeInside(text: string): InnerPlace | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

/** The end of the word or sign that begins at a place. */
function endOfWord(text: string | undefined, { line, column }: InnerPlace): InnerPlace | undefined {
  const characters = [...(text?.split("\n")[line - 1] ?? "")].slice(column - 1);
  if (characters.length === 0) return undefined;
  const [word = ""] = /^(?:\w+|[^\w\s])/.exec(characters.join("")) ?? [];
  return word === "" ? undefined : { line, column: column + [...word].length };
}

function stringAt(value: unknown, path: Path): string | undefined {
  let at = value;
  for (const part of path) at = typeof part === "number" && Array.isArray(at) ? at[part] : member(at, String(part));
  return typeof at === "string" ? at : undefined;
}
