/** A step of indentation. YAML allows no tabs. */
const STEP = "  ";

/** A replacement, and the selection after it: UTF-16 units of the whole text. */
export interface Selected {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly selectionFrom: number;
  readonly selectionTo: number;
}

/** Indents by a step, or unindents: at the caret, or every selected line. */
export function indentedLines(text: string, from: number, to: number, back: boolean): Selected {
  if (from === to && !back) {
    return { from, to, text: STEP, selectionFrom: from + STEP.length, selectionTo: from + STEP.length };
  }
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end =
    text.indexOf("\n", Math.max(from, to - 1)) === -1 ? text.length : text.indexOf("\n", Math.max(from, to - 1));
  const lines = text.slice(start, end).split("\n");
  const changed = lines.map((line) => (back ? line.replace(/^ {1,2}/, "") : line === "" ? "" : STEP + line));
  const first = (changed[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  const replaced = changed.join("\n");
  const selectionFrom = Math.max(start, from + first);
  const selectionTo = Math.max(selectionFrom, to + replaced.length - (end - start));
  return { from: start, to: end, text: replaced, selectionFrom, selectionTo };
}
