/** The relevant part of a difference: the changes, with some lines around them. */
import type { DiffLine } from "./types.js";

/** Lines before and after a change that are shown with it, as other tools do. */
const CONTEXT = 3;

/**
 * The lines near changes; `undefined` stands for one or more that are left out. The line of a parent further up is kept, to show where a
 * change is: `spec:` above `replicas:`.
 */
export function withGaps(lines: readonly DiffLine[], context = CONTEXT): readonly (DiffLine | undefined)[] {
  const kept = keptLines(lines, context);
  const shown: (DiffLine | undefined)[] = [];
  for (const [i, line] of lines.entries()) {
    if (kept.has(i)) shown.push(line);
    else if (i === 0 || kept.has(i - 1)) shown.push(undefined);
  }
  return shown;
}

function keptLines(lines: readonly DiffLine[], context: number): ReadonlySet<number> {
  const kept = new Set<number>();
  // Lines above, each less indented than those behind it: the parents of the current line.
  const parents: { readonly at: number; readonly indent: number }[] = [];
  for (const [i, { kind, text }] of lines.entries()) {
    const indent = text.search(/\S/);
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    if (kind !== "same") {
      for (const { at } of parents) kept.add(at);
      for (let near = Math.max(0, i - context); near <= Math.min(lines.length - 1, i + context); near += 1)
        kept.add(near);
    }
    parents.push({ at: i, indent });
  }
  return kept;
}
