/** The table of rows (spec kyverno.md 8.8). */
import { type Cell, COLORS, drawTable } from "../reports/text-table.js";
import type { Row } from "./rows.js";

/** What is shown. */
export interface TableOptions {
  /** With the message. */
  readonly detailed: boolean;
  /** With colours, for terminals. */
  readonly color: boolean;
}

const HEADINGS = ["ID", "POLICY", "RULE", "RESOURCE", "RESULT", "REASON"];

/** The table with a line break behind each line; without rows nothing. */
export function rowTable(rows: readonly Row[], { detailed, color }: TableOptions): string {
  const headings = detailed ? [...HEADINGS, "MESSAGE"] : HEADINGS;
  return drawTable(
    headings,
    rows.map((row) => cellsOf(row).slice(0, headings.length)),
    color,
  );
}

/** Reasons that say that nothing was compared stand out. */
function cellsOf({ id, policy, rule, resource, result, reason, message }: Row): readonly Cell[] {
  const compared = reason === "Ok" || reason.startsWith("Want ");
  return [
    String(id),
    [{ text: policy, color: COLORS.name }],
    [{ text: rule, color: COLORS.name }],
    [{ text: resource, color: COLORS.name }],
    [{ text: result, color: result === "Pass" ? COLORS.good : COLORS.bad }],
    compared ? reason : [{ text: reason, color: COLORS.notable }],
    message,
  ];
}
