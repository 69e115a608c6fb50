/** Lines with the values of one expression. */

import { printable } from "../../data/printable.js";
import { cutTo, type ExplainedExpression, type ExplainedValue } from "../../kinds/explanation/index.js";

/** Indents lines. */
export const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

/** Characters above which values and sources are cut. */
const MAX_LENGTH = 100;

/** A value or a part of an expression, cut to a line. */
export const shortText = (text: string): string => cutTo(text, MAX_LENGTH);

/** The lines of an expression with all its parts, one for each, indented below its parent. */
export function partLines({ text, value, parts }: ExplainedValue, depth = 0): readonly string[] {
  const head = `${"  ".repeat(depth)}${shortText(text)}  →  ${valueShown(value)}`;
  return [head, ...parts.flatMap((part) => partLines(part, depth + 1))];
}

const valueShown = (value: string | undefined): string => (value === undefined ? "not evaluated" : shortText(value));

/** Expressions that are shown with their parts: all, or those that are false or failed. */
export type WantedParts = "all" | "of what is false";

/**
 * The place of an expression, the expression as written, and its value; below that its parts, where it is false or failed. It may have been evaluated
 * more than once, for several parameters or several Pods: then each value has its line.
 */
export function expressionLines(
  { path, name, source, error, evaluations }: ExplainedExpression,
  wanted: WantedParts,
): readonly string[] {
  const place = printable(name === undefined ? path : `${path} (${name})`);
  const [first = [error === undefined ? "not evaluated" : `error: ${printable(error)}`], ...others] = different(
    evaluations.map((each) => came(each, wanted)),
  );
  if (others.length > 0) {
    const values = [first, ...others].flatMap(([value = "", ...parts]) => [`→  ${value}`, ...parts]);
    return [...written(place, source, ""), ...indented(values)];
  }
  const [value = "", ...parts] = first;
  return [...written(place, source, `  →  ${value}`), ...parts];
}

/** The value, with the parts if they are wanted. */
function came({ value, failed, parts }: ExplainedValue, wanted: WantedParts): readonly string[] {
  const shown = wanted === "all" || value === "false" || failed ? parts : [];
  return [valueShown(value), ...shown.flatMap((part) => partLines(part, 1))];
}

/** The expression in one line, or in several if it was written so. */
function written(place: string, source: string, value: string): readonly string[] {
  const lines = source.trim().split("\n").map(printable);
  if (lines.length === 1) return [`${place}: ${lines.join("")}${value}`];
  return [`${place}${value}`, ...lines.map((line) => `  | ${line}`)];
}

/** Values that differ in parts that are not shown are shown once. */
function different(evaluations: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(evaluations.map((lines) => [lines.join("\n"), lines])).values()];
}
