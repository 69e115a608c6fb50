/** The line of a file with an error, and a mark below the place: as a person sees it on a terminal. */

/** Most columns of a line that are shown on a terminal; longer ones are cut around the mark. */
const MAX_COLUMNS = 100;
/** Least columns before the mark, where a long line is cut. */
const BEFORE_MARK = 30;
/** Longest line with an excerpt, in UTF-16 units: each problem has its own. */
const MAX_LENGTH = 65_536;
const CUT = "…";

/** Characters of two columns, of East Asia and pictures; marks have none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARK = /\p{M}/u;
/** Characters that a terminal would interpret, or would not show: control characters, and those that change the direction of texts. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
/** The character that joins several pictures to one, and shapes letters of some scripts. */
const ZERO_WIDTH_JOINER = "\u200d";
const JOINER = /[\u200c\u200d]/;
const FIRST_PICTURE = 0x2400;
const DELETE = 0x7f;
const LAST_WITH_PICTURE = 0x20;

/** The place of an error in its line: 1-based columns in code points, the end exclusive and absent where it is not known. */
export interface Marked {
  readonly line: number;
  readonly column: number;
  readonly endColumn?: number;
}

/** A line and the mark below it. */
export interface Excerpt {
  /** Number and bar before the line, as wide as {@link blank}. */
  readonly gutter: string;
  readonly text: string;
  readonly blank: string;
  /** White space and carets, below `text`. */
  readonly mark: string;
}

interface Cell {
  readonly shown: string;
  readonly width: number;
}

/**
 * @param text the whole line, without its break
 * @returns undefined for a line that was hardly written by hand
 */
export function excerptOf(text: string, { line, column, endColumn }: Marked): Excerpt | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const characters = [...text];
  const cells = characters.map((character, at) => cellOf(character, characters[at - 1]));
  const place = Math.min(Math.max(column - 1, 0), cells.length);
  const start = callStart(characters, place);
  const wanted = endColumn === undefined ? wordEnd(characters, start) : endColumn - 1;
  const end = Math.min(start < place ? place : Math.max(wanted, start), cells.length);
  const [from, to] = windowOf(cells, start, end);
  const shown = cells.slice(from, to);
  const head = from > 0 ? CUT : "";
  const before = cells.slice(from, start).map(({ shown: each, width }) => (each === "\t" ? each : " ".repeat(width)));
  const marked = cells.slice(start, Math.min(end, to)).reduce((sum, { width }) => sum + width, 0);
  const number = String(line);
  return {
    gutter: ` ${number} | `,
    text: `${head}${shown.map((cell) => cell.shown).join("")}${to < cells.length ? CUT : ""}`.trimEnd(),
    blank: ` ${" ".repeat(number.length)} | `,
    mark: `${head && " "}${before.join("")}${"^".repeat(Math.max(marked, 1))}`,
  };
}

function cellOf(character: string, before?: string): Cell {
  const code = character.codePointAt(0) ?? 0;
  // Repeated below the line, so that both are as wide as the terminal makes it.
  if (character === "\t") return { shown: character, width: 1 };
  if (code < LAST_WITH_PICTURE) return { shown: String.fromCodePoint(FIRST_PICTURE + code), width: 1 };
  if (code === DELETE) return { shown: "\u2421", width: 1 };
  if (JOINER.test(character) || before === ZERO_WIDTH_JOINER) return { shown: character, width: 0 };
  if (UNSEEN.test(character)) return { shown: "\ufffd", width: 1 };
  return { shown: character, width: MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1 };
}

/** The beginning of the name of a call: CEL gives the place of its parenthesis. */
function callStart(characters: readonly string[], place: number): number {
  let start = place;
  if (characters[place] === "(") while (start > 0 && /\w/.test(characters[start - 1] ?? "")) start--;
  return start;
}

/** The end of the word or number that begins at a place; at least one character behind it. */
function wordEnd(characters: readonly string[], start: number): number {
  let end = start;
  while (end < characters.length && /[\p{L}\p{N}_-]/u.test(characters[end] ?? "")) end++;
  return Math.max(end, start + 1);
}

/** The cells that are shown of a line. */
function windowOf(cells: readonly Cell[], start: number, end: number): readonly [from: number, to: number] {
  const width = (from: number, to: number) => cells.slice(from, to).reduce((sum, cell) => sum + cell.width, 0);
  if (width(0, cells.length) <= MAX_COLUMNS) return [0, cells.length];
  let from = start;
  // As much before the mark as the marked part leaves, and some at least.
  const room = Math.max(BEFORE_MARK, MAX_COLUMNS - width(start, end) - BEFORE_MARK);
  for (let most = room; from > 0 && most > 0; from--) most -= cells[from - 1]?.width ?? 0;
  let to = from;
  let left = MAX_COLUMNS;
  for (; to < cells.length && left > 0; to++) left -= cells[to]?.width ?? 0;
  // Columns that are not needed behind the mark show more before it.
  for (; from > 0 && left > 0; from--) left -= cells[from - 1]?.width ?? 0;
  return [from, Math.max(to, Math.min(start + 1, cells.length))];
}
