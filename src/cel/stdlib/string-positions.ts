/**
 * Characters and parts of strings by their position (spec kubernetes-cel.md 4.2). An int argument may be a bigint, which is never a position. `size` is the
 * text's number of code points, where that is known already: if it equals the number of UTF-16 units, positions are JavaScript's indexes.
 */
import { CelError } from "../values/cel-error.js";
import { codePointLength, positionOf, unitIndex } from "../values/code-points.js";
import type { Result } from "../values/value.js";

type Int = number | bigint;

const outOfRange = (position: Int): CelError => new CelError(`index out of range: ${position}`);

/** `charAt`: the code point at a position; the position behind the last gives an empty string. */
export function charAt(text: string, position: Int, size = codePointLength(text)): Result {
  if (typeof position === "bigint" || position < 0 || position > size) return outOfRange(position);
  if (size === text.length) return text.charAt(position);
  const code = text.codePointAt(unitIndex(text, position));
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** `indexOf`: where `part` begins at or after `offset`, -1 where nowhere. */
export function indexOf(text: string, part: string, offset: Int = 0, size?: number): Result {
  if (offset < 0) return outOfRange(offset);
  if (offset === 0 && part !== "") {
    const index = text.indexOf(part);
    return index <= 0 ? index : positionIn(text, index, size);
  }
  const length = size ?? codePointLength(text);
  if (part === "") return offset < length ? offset : length;
  if (offset >= length) return -1;
  const index = text.indexOf(part, unitIn(text, Number(offset), length));
  return index <= 0 ? index : positionIn(text, index, length);
}

/** `lastIndexOf`: the last place where `part` begins, at or before `offset`. */
export function lastIndexOf(text: string, part: string, offset?: Int, size?: number): Result {
  if (offset !== undefined && offset < 0) return outOfRange(offset);
  if (offset === undefined && part !== "") {
    const index = lastPlace(text, part);
    return index <= 0 ? index : positionIn(text, index, size);
  }
  const length = size ?? codePointLength(text);
  if (part === "") return offset === undefined || offset >= length ? length : offset;
  if (offset !== undefined && offset >= length) return -1;
  const from = offset === undefined ? text.length : unitIn(text, Number(offset), length);
  const index = text.lastIndexOf(part, from);
  return index <= 0 ? index : positionIn(text, index, length);
}

/** Searches from the front before one from the back, which takes as long as four of them; most texts have fewer such places. */
const SEARCHES = 4;

function lastPlace(text: string, part: string): number {
  let last = text.indexOf(part);
  for (let searches = 1; last !== -1 && searches < SEARCHES; searches++) {
    const next = text.indexOf(part, last + 1);
    if (next === -1) return last;
    last = next;
  }
  return last === -1 ? last : text.lastIndexOf(part);
}

/** `substring`: from `start` to before `end`. */
export function substring(text: string, start: Int, end?: Int, size = codePointLength(text)): Result {
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0 || start > size) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > size)) return outOfRange(end);
  if (end === undefined) return text.slice(unitIn(text, Number(start), size));
  return text.slice(unitIn(text, Number(start), size), unitIn(text, Number(end), size));
}

const unitIn = (text: string, position: number, size: number): number =>
  size === text.length ? position : unitIndex(text, position);

const positionIn = (text: string, index: number, size: number | undefined): number =>
  size === text.length ? index : positionOf(text, index);
