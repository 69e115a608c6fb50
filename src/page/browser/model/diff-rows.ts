import type { DiffLine } from "../../../kinds/explanation/types.js";

/** Unchanged lines that are shown before and after a change. */
export const CONTEXT = 3;

/** A row of a difference: a line, or lines that are folded because nothing near them changed. */
export type DiffRow =
  | { readonly kind: DiffLine["kind"]; readonly text: string }
  | { readonly kind: "folded"; readonly lines: readonly DiffLine[] };

/** The lines, with those far from every change folded. Two lines or fewer are not worth folding. */
export function diffRows(lines: readonly DiffLine[], context: number = CONTEXT): DiffRow[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, index) => {
    if (line.kind !== "same") near.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const rows: DiffRow[] = [];
  for (let index = 0; index < lines.length; ) {
    const end = near[index] === 1 ? index + 1 : endOfRun(near, index);
    const run = lines.slice(index, end);
    if (near[index] !== 1 && run.length > 2) rows.push({ kind: "folded", lines: run });
    else rows.push(...run);
    index = end;
  }
  return rows;
}

function endOfRun(near: Uint8Array, from: number): number {
  const next = near.indexOf(1, from);
  return next === -1 ? near.length : next;
}

/** Number of lines that a patch adds and removes. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}
