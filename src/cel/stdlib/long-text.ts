/**
 * Edits of long texts on an array of their code units. The engine makes an object for each piece of a text that is cut, and calls a function for each place that a
 * pattern replaces: millions of them hold the thread for a second, while this takes some hundredths of one.
 */

/** Characters from which a text is edited in this way. */
export const LONG_TEXT = 4_096;

/** Longest search text for this method, so that no text has to be compared with it again and again. */
export const SHORT_SEARCHED = 8;

type Units = Uint8Array | Uint16Array;

/** The encoding of the units: a byte each where all are ASCII. */
const encodingOf = (...texts: readonly string[]): "latin1" | "utf16le" =>
  texts.every((text) => Buffer.byteLength(text) === text.length) ? "latin1" : "utf16le";

function unitsOf(text: string, encoding: "latin1" | "utf16le"): Units {
  const { buffer, byteOffset } = Buffer.from(text, encoding);
  // Not the Buffer itself: loops are compiled for one kind of bytes.
  return new (encoding === "latin1" ? Uint8Array : Uint16Array)(buffer, byteOffset, text.length);
}

const roomFor = (length: number, encoding: "latin1" | "utf16le"): Units =>
  encoding === "latin1" ? new Uint8Array(length) : new Uint16Array(length);

const textOf = (units: Units, encoding: "latin1" | "utf16le"): string =>
  Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString(encoding);

/** Adds a number to the units from `first` to `last`: letters in another case. */
export function shiftUnits(text: string, first: number, last: number, by: number): string {
  const units = unitsOf(text, "utf16le");
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] as number;
    if (unit >= first && unit <= last) units[index] = unit + by;
  }
  return textOf(units, "utf16le");
}

/**
 * Replaces the first `count` occurrences of `from`, which is not empty and at most {@link SHORT_SEARCHED} long.
 * @returns undefined when the result would be longer than `most`
 */
export function replaceUnits(text: string, from: string, to: string, count: number, most: number): string | undefined {
  const encoding = encodingOf(text, from, to);
  const [units, searched, put] = [unitsOf(text, encoding), unitsOf(from, encoding), unitsOf(to, encoding)];
  const found = occurrences(units, searched, count);
  const length = text.length + found * (to.length - from.length);
  if (length > most) return undefined;
  const out = roomFor(length, encoding);
  const first = searched[0];
  const [width, added] = [searched.length, put.length];
  let left = found;
  let at = 0;
  let index = 0;
  while (left > 0) {
    const unit = units[index] as number;
    if (unit !== first || !isAt(units, searched, index)) {
      out[at++] = unit;
      index++;
      continue;
    }
    for (let each = 0; each < added; each++) out[at++] = put[each] as number;
    index += width;
    left--;
  }
  out.set(units.subarray(index), at);
  return textOf(out, encoding);
}

function occurrences(units: Units, searched: Units, most: number): number {
  const first = searched[0];
  const width = searched.length;
  const end = units.length;
  let found = 0;
  for (let index = 0; index < end && found < most; )
    if (units[index] === first && isAt(units, searched, index)) {
      found++;
      index += width;
    } else index++;
  return found;
}

/** Whether the rest of the search text stands behind its first unit. */
function isAt(units: Units, searched: Units, at: number): boolean {
  for (let index = 1; index < searched.length; index++) if (units[at + index] !== searched[index]) return false;
  return true;
}

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** The number of units of the code point at an index. */
function unitsAt(units: Units, index: number): number {
  return isHigh(units[index] as number) && index + 1 < units.length && isLow(units[index + 1] as number) ? 2 : 1;
}

/** Puts a text before the first `places` code points, and behind the last one when that is a place, too. The caller checks the length. */
export function insertUnits(text: string, inserted: string, places: number): string {
  const encoding = encodingOf(text, inserted);
  const [units, put] = [unitsOf(text, encoding), unitsOf(inserted, encoding)];
  const out = roomFor(text.length + places * put.length, encoding);
  let left = places;
  let at = 0;
  const putOne = (): void => {
    if (left-- <= 0) return;
    for (let each = 0; each < put.length; each++) out[at++] = put[each] as number;
  };
  for (let index = 0; index < units.length; ) {
    putOne();
    for (let more = unitsAt(units, index); more > 0; more--) out[at++] = units[index++] as number;
  }
  putOne();
  return textOf(out, encoding);
}

/** The code points in reverse. */
export function reverseUnits(text: string): string {
  const encoding = encodingOf(text);
  const units = unitsOf(text, encoding);
  const out = roomFor(units.length, encoding);
  for (let index = 0; index < units.length; ) {
    const count = unitsAt(units, index);
    const at = units.length - index - count;
    for (let each = 0; each < count; each++) out[at + each] = units[index + each] as number;
    index += count;
  }
  return textOf(out, encoding);
}

/** Puts a backslash and a letter in the place of some units, and a unit on either side. @param escapes by unit the letter; of ASCII's only */
export function escapeUnits(text: string, around: number, escapes: ReadonlyMap<number, number>): string {
  const encoding = encodingOf(text);
  const units = unitsOf(text, encoding);
  const letters = new Uint8Array(0x80);
  for (const [unit, letter] of escapes) letters[unit] = letter;
  let more = 2;
  for (let index = 0; index < units.length; index++) if (letters[units[index] as number]) more++;
  const out = roomFor(units.length + more, encoding);
  let at = 0;
  out[at++] = around;
  for (let index = 0; index < units.length; index++) {
    const letter = letters[units[index] as number];
    if (letter) out[at++] = BACKSLASH;
    out[at++] = letter || (units[index] as number);
  }
  out[at] = around;
  return textOf(out, encoding);
}

const BACKSLASH = 0x5c;
