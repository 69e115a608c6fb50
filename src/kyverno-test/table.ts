/** The table of rows, drawn as Kyverno's command draws it. */
import type { Row } from "./rows.js";

/** Cells that are longer, in bytes, are broken into lines. */
const CELL_LIMIT = 300;
/** From this many rows the first heading says how many there are. */
const COUNTED_ROWS = 11;

const HEADING = "40;32";
const NAME = "36;1";
const GOOD = "32;1";
const BAD = "31;1";
const NOTABLE = "33;1";

/** What is shown. */
export interface TableOptions {
  /** With the message. */
  readonly detailed: boolean;
  /** With colours, for terminals. */
  readonly color: boolean;
}

/** The table with a line break behind each line; without rows nothing. */
export function drawTable(rows: readonly Row[], { detailed, color }: TableOptions): string {
  if (rows.length === 0) return "";
  const paint = (text: string, code: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const first = rows.length >= COUNTED_ROWS ? `ID (${rows.length}) ` : "ID";
  const headings = [first, "POLICY", "RULE", "RESOURCE", "RESULT", "REASON", ...(detailed ? ["MESSAGE"] : [])];
  const lines = rows.map((row) => cellsOf(row, detailed).map((cell) => broken(cell).split("\n")));
  const widths = headings.map((heading, column) =>
    Math.max(displayWidth(heading), ...lines.flatMap((cells) => (cells[column] ?? []).map(displayWidth))),
  );
  const border = `│${widths.map((width) => `${"─".repeat(width + 2)}│`).join("")}\n`;
  let text = border;
  text += `│${headings.map((heading, i) => ` ${paint(padded(heading.trim(), widths[i]), HEADING)} │`).join("")}\n`;
  text += border;
  for (const [i, cells] of lines.entries()) {
    const codes = colorsOf(rows[i]);
    const height = Math.max(...cells.map((cell) => cell.length));
    for (let line = 0; line < height; line++) {
      text += `│${cells
        .map((cell, column) => {
          const shown = cell[line] ?? "";
          const blanks = padded(shown, widths[column]).slice(shown.length);
          const code = codes[column];
          return ` ${code === undefined || shown === "" ? shown : paint(shown, code)}${blanks} │`;
        })
        .join("")}\n`;
    }
  }
  return text + border;
}

const cellsOf = ({ id, policy, rule, resource, result, reason, message }: Row, detailed: boolean): string[] => [
  String(id),
  policy,
  rule,
  resource,
  result,
  reason,
  ...(detailed ? [message] : []),
];

/** Reasons that say that nothing was compared stand out. */
function colorsOf(row: Row | undefined): readonly (string | undefined)[] {
  const compared = row === undefined || row.reason === "Ok" || row.reason.startsWith("Want ");
  const reason = compared ? undefined : NOTABLE;
  return [undefined, NAME, NAME, NAME, row?.result === "Pass" ? GOOD : BAD, reason];
}

const padded = (text: string, width = 0): string => text + " ".repeat(Math.max(0, width - displayWidth(text)));

/** Characters of East Asia and pictures take two columns, marks none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARK = /\p{M}|\p{Cf}|\p{Cc}/u;

/** Columns that a line takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** A long cell without line breaks of its own gets some between words. */
function broken(cell: string): string {
  if (Buffer.byteLength(cell) <= CELL_LIMIT || cell.includes("\n")) return cell;
  const [first, ...words] = cell.trim().split(/\s+/);
  let text = first ?? "";
  let left = CELL_LIMIT - Buffer.byteLength(text);
  for (const word of words) {
    const taken = Buffer.byteLength(word) + 1;
    if (taken <= left) {
      text += ` ${word}`;
      left -= taken + 1;
    } else {
      text += `\n${word}`;
      left = CELL_LIMIT - Buffer.byteLength(word);
    }
  }
  return text;
}
