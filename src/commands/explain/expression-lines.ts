/** What one expression came to, as lines. */
import { CelError, explain } from "../../cel/index.js";
import type { Asking, Evaluated, PlacedExpression } from "../../cel-policy/index.js";
import { explanationLines, printable, valueText } from "../cel/explain-text.js";
import { indented } from "./indented.js";

/**
 * The place of an expression, the expression as it was written, and its value; below that its parts, where it is false or failed. It may have been
 * evaluated more than once, for several parameters or several Pods: then each value has its line.
 */
export function expressionLines({ path, name, expression }: PlacedExpression, asking: Asking): readonly string[] {
  const { source, program, error } = expression;
  const place = name === undefined || name === "" ? path : `${path} (${name})`;
  const [first = ["not evaluated"], ...others] =
    program === undefined ? [[`error: ${printable(error ?? "")}`]] : different(asking.evaluations(program).map(came));
  if (others.length > 0) {
    const values = [first, ...others].flatMap(([value = "", ...parts]) => [`→  ${value}`, ...parts]);
    return [...written(place, source, ""), ...indented(values)];
  }
  const [value = "", ...parts] = first;
  return [...written(place, source, `  →  ${value}`), ...parts];
}

/** An expression that stands nowhere else, with all its parts. */
export function evaluationLines(evaluated: Evaluated): readonly string[] {
  const [value = "", ...parts] = [valueText(evaluated.result), ...partLines(evaluated)];
  return [...written("expression", evaluated.program.source, `  →  ${value}`), ...parts];
}

/** The value, and the parts where somebody asks why. */
function came(evaluated: Evaluated): readonly string[] {
  const { result } = evaluated;
  const parts = result === false || result instanceof CelError ? partLines(evaluated) : [];
  return [valueText(result), ...parts];
}

function partLines({ program, values }: Evaluated): readonly string[] {
  return explain(program.parsed, values).parts.flatMap((part) => explanationLines(part, 1));
}

/** One line, or several where it was written so. */
function written(place: string, source: string, value: string): readonly string[] {
  const lines = source.trim().split("\n").map(printable);
  if (lines.length === 1) return [`${place}: ${lines.join("")}${value}`];
  return [`${place}${value}`, ...lines.map((line) => `  | ${line}`)];
}

/** Attempts repeat evaluations: what is the same is shown once. */
function different(evaluations: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(evaluations.map((lines) => [lines.join("\n"), lines])).values()];
}
