/** Mistakes of fields as problems at their places: those of an expression stand inside of it. */
import type { ExpressionMistake } from "../../kubernetes/field-error.js";
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
  /** Of an expression: all of which the text tells, one by one. */
  readonly mistakes?: readonly ExpressionMistake[] | undefined;
  /** Of a mistake in an expression. */
  readonly code?: ProblemCode | undefined;
}

/** The mistake as a problem; of an expression at the first word of it that is wrong, where its place is known. */
export function fieldProblem(
  document: Pick<SourceDocument, "value" | "problem">,
  severity: Problem["severity"],
  { path, text, hint, mistakes, code }: FieldMistake,
): Problem {
  const [first] = mistakes ?? [];
  const inner = first !== undefined && first.line > 0 ? first : undefined;
  const problem = document.problem(severity, path, text, inner);
  const end = inner && endOfWord(stringAt(document.value, path), inner);
  const after = end && document.problem(severity, path, text, end);
  const placed = mistakes?.map(({ line, column, message, hint: own }) => {
    const at = line > 0 ? document.problem(severity, path, message, { line, column }) : problem;
    return { line: at.line, column: at.column, message, ...(own !== undefined && { hint: own }) };
  });
  return {
    ...problem,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    ...(placed !== undefined && { mistakes: placed }),
    ...(after?.line === problem.line && after.column > problem.column && { endColumn: after.column }),
  };
}

/** Where the word ends that begins at a place, or the sign that stands there. */
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
