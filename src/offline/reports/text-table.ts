/** A table of text with borders, drawn like that of Kyverno's command. */
import { printable } from "../../data/printable.js";

/** A cell, which may have several lines, or the parts of a cell with one line. */
export type Cell = string | readonly Colored[];

/** A text with the code of its colour; absent without one. */
export interface Colored {
  readonly text: string;
  readonly color?: string;
}

/** Codes of colours. */
export const COLORS = { heading: "40;32", name: "36;1", good: "32;1", bad: "31;1", notable: "33;1" } as const;

/** Cells that are longer, in bytes, are broken into lines. */
const CELL_LIMIT = 300;
/** Number of rows from which the first heading shows it. */
const COUNTED_ROWS = 11;

/** The table with a line break after each line; empty without rows. Texts of cells are made printable. */
export function drawTable(headings: readonly string[], written: readonly (readonly Cell[])[], color: boolean): string {
  if (written.length === 0) return "";
  const rows = written.map((row) => row.map(printableCell));
  const [first = "", ...others] = headings;
  const shown = [rows.length >= COUNTED_ROWS ? `${first} (${rows.length}) ` : first, ...others];
  const lines = rows.map((row) => row.map((cell) => broken(textOf(cell)).split("\n")));
  const widths = shown.map((heading, column) =>
    lines.reduce((width, cells) => Math.max(width, ...(cells[column] ?? []).map(displayWidth)), displayWidth(heading)),
  );
  const border = `│${widths.map((width) => `${"─".repeat(width + 2)}│`).join("")}\n`;
  const head = shown.map((heading, column) => painted(padded(heading, widths[column]), COLORS.heading, color));
  const body = lines.map((cells, row) => rowText(rows[row] ?? [], cells, widths, color));
  return `${border}${lineOf(head)}${border}${body.join("")}${border}`;
}

const lineOf = (cells: readonly string[]): string => `│${cells.map((cell) => ` ${cell} │`).join("")}\n`;

/** The lines of a row. Only cells of one line have colours: line breaks of others don't follow their parts. */
function rowText(
  row: readonly Cell[],
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  color: boolean,
): string {
  const height = Math.max(...cells.map((cell) => cell.length));
  let text = "";
  for (let line = 0; line < height; line++) {
    text += lineOf(
      cells.map((cell, column) => {
        const part = cell[line] ?? "";
        const written = row[column] ?? "";
        const space = padded(part, widths[column]).slice(part.length);
        return (color && cell.length === 1 ? paintedCell(written) : part) + space;
      }),
    );
  }
  return text;
}

const printableCell = (cell: Cell): Cell =>
  typeof cell === "string"
    ? cell.split("\n").map(printable).join("\n")
    : cell.map(({ text, ...how }) => ({ text: printable(text), ...how }));
const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.map(({ text }) => text).join(""));
const paintedCell = (cell: Cell): string =>
  typeof cell === "string" ? cell : cell.map(({ text, color }) => painted(text, color, true)).join("");
const painted = (text: string, code: string | undefined, color: boolean): string =>
  color && code !== undefined && text !== "" ? `\u001b[${code}m${text}\u001b[0m` : text;
const padded = (text: string, width = 0): string => text + " ".repeat(Math.max(0, width - displayWidth(text)));

/** Characters with another width: those of East Asia and pictures take two columns, marks none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARK = /\p{M}|\p{Cf}|\p{Cc}/u;
/** The printable characters of ASCII take one column each. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Columns of a line on a terminal. */
function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Breaks a long cell without line breaks between words. */
function broken(cell: string): string {
  if (Buffer.byteLength(cell) <= CELL_LIMIT || cell.includes("\n")) return cell;
  const [first = "", ...words] = cell.trim().split(/\s+/);
  let text = first;
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
