/** The difference of two values, as lines of YAML. */
import { diffArrays } from "diff";
import { printYaml } from "../../data/print-yaml.js";
import type { DiffLine } from "./types.js";
import { lineOf } from "./value-text.js";

// The keys of a changed value in the order of the former one: their order has no meaning, but would show as changes.

/** Levels below which values are not reordered: they are not shown. */
const MAX_DEPTH = 200;

/** The same value, with the keys of maps in the order of the former one; new keys follow. Items of lists are matched by name, or else by place. */
export function inOrderOf(former: unknown, changed: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return changed;
  if (Array.isArray(former) && Array.isArray(changed)) {
    const named = new Map(
      former.flatMap((item: unknown) => (nameOf(item) === undefined ? [] : [[nameOf(item), item]])),
    );
    return changed.map((item: unknown, at) => inOrderOf(named.get(nameOf(item)) ?? former[at], item, depth + 1));
  }
  if (!isMap(former) || !isMap(changed)) return changed;
  const first = Object.keys(former).filter((key) => Object.hasOwn(changed, key));
  const known = new Set(first);
  const keys = [...first, ...Object.keys(changed).filter((key) => !known.has(key))];
  return Object.fromEntries(
    // An inherited member does not count as the former value.
    keys.map((key) => [key, inOrderOf(known.has(key) ? former[key] : undefined, changed[key], depth + 1)]),
  );
}

/** The name that identifies items of most of Kubernetes' lists. */
function nameOf(item: unknown): string | undefined {
  const name = isMap(item) && Object.hasOwn(item, "name") ? item.name : undefined;
  return typeof name === "string" ? name : undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Most lines removed and added between the first and the last change: the search takes the square of it. Beyond, all lines between them count as changed. */
const MAX_EDITS = 1_000;

/** Most lines shown of an object: usual ones have some hundred. */
export const MAX_DIFF_LINES = 20_000;

/** Stands for the omitted lines. */
const REST = "…";

/**
 * The lines of a value in YAML before and after a change, all of them, in order; removed ones before those that are added in their place. A different order of keys
 * does not count as a change. Long lines are cut, and control characters are removed.
 */
export function diffLines(before: unknown, after: unknown): readonly DiffLine[] {
  const [old, changed] = [yamlLines(before), yamlLines(inOrderOf(before, after))];
  const shorter = Math.min(old.length, changed.length);
  let head = 0;
  while (head < shorter && old[head] === changed[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === changed.at(-1 - tail)) tail += 1;
  const middle = compared(old.slice(head, old.length - tail), changed.slice(head, changed.length - tail));
  const lines = [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
  if (lines.length <= MAX_DIFF_LINES) return lines;
  // The change is what matters: of a long common beginning only the end is shown.
  const from = Math.min(Math.max(0, head - MAX_DIFF_LINES / 2), lines.length - MAX_DIFF_LINES);
  const to = from + MAX_DIFF_LINES;
  return [...(from > 0 ? [same(REST)] : []), ...lines.slice(from, to), ...(to < lines.length ? [same(REST)] : [])];
}

const same = (text: string): DiffLine => ({ kind: "same", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });
const added = (text: string): DiffLine => ({ kind: "added", text });

function yamlLines(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return yamlOf(value).trimEnd().split("\n").map(lineOf);
}

function yamlOf(value: unknown): string {
  try {
    return printYaml(value);
  } catch (error) {
    // Values may be nested too deeply for the engine.
    if (error instanceof RangeError) return REST;
    throw error;
  }
}

function compared(old: readonly string[], changed: readonly string[]): readonly DiffLine[] {
  const parts = diffArrays([...old], [...changed], { maxEditLength: MAX_EDITS });
  if (parts === undefined) return [...old.map(removed), ...changed.map(added)];
  return parts.flatMap((part) => part.value.map(part.removed ? removed : part.added ? added : same));
}
