/** Changes of a value, for a terminal. */
import { printable } from "../../data/printable.js";
import { type DiffLine, withGaps } from "../../kinds/explanation/index.js";
import type { Paint, Tone } from "./paint.js";

/** Most changed lines that are shown, since an object may be rewritten as a whole. */
const MAX_CHANGES = 200;

const SIGNS: Readonly<Record<DiffLine["kind"], { readonly sign: string; readonly tone: Tone | undefined }>> = {
  same: { sign: " ", tone: undefined },
  removed: { sign: "-", tone: "bad" },
  added: { sign: "+", tone: "good" },
};

/** The changes with some lines around them, as `diff` shows them. */
export function diffText(lines: readonly DiffLine[], paint: Paint): readonly string[] {
  if (lines.every(({ kind }) => kind === "same")) return [];
  const near = withGaps(lines);
  const shown = near.slice(0, MAX_CHANGES).map((line) => {
    if (line === undefined) return paint("quiet", "  …");
    const { sign, tone } = SIGNS[line.kind];
    const text = `${sign} ${printable(line.text)}`.trimEnd();
    return tone === undefined ? text : paint(tone, text);
  });
  const left = near.length - shown.length;
  return left === 0 ? shown : [...shown, paint("quiet", `  … and ${left} more lines`)];
}
