/** How one JSON value differs from another, as lines for a person. */
import { stringifyJson } from "../../data/json.js";
import { diff } from "../../data/json-patch.js";

/** Most differences that are shown: a person reads the first ones. */
const MAX_LINES = 20;
/** Longest value that is shown. */
const MAX_VALUE = 120;

/** A line for each place that differs: `/spec/replicas: expected 2, got 3`; none when they are equal. */
export function differenceLines(expected: unknown, got: unknown): readonly string[] {
  const steps = diff(expected, got);
  const lines = steps.slice(0, MAX_LINES).map((step) => {
    const place = step.path === "" ? "(whole)" : step.path;
    const wanted = step.op === "add" ? "nothing" : shown(valueAt(expected, step.path));
    return `${place}: expected ${wanted}, got ${step.op === "remove" ? "nothing" : shown(step.value)}`;
  });
  return steps.length > MAX_LINES ? [...lines, `and ${steps.length - MAX_LINES} more`] : lines;
}

/** Whether {@link shown} leaves something of a value out. */
export const isCut = (value: unknown): boolean => value !== undefined && stringifyJson(value).length > MAX_VALUE;

/** A value on one line. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : stringifyJson(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 3)}...` : text;
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
