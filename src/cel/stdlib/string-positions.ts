/** Characters and parts of strings by their position (spec kubernetes-cel.md 4.2). An int argument may be a bigint, which no position is. */
import { CelError } from "../values/cel-error.js";
import { codePointLength, codePointsOf, isFlat, positionOf, unitIndex } from "../values/code-points.js";
import type { Result } from "../values/value.js";

type Int = number | bigint;

const outOfRange = (position: Int): CelError => new CelError(`index out of range: ${position}`);

/** `charAt`: the code point at a position; the position behind the last gives an empty string. */
export function charAt(text: string, position: Int): Result {
  if (typeof position === "bigint" || position < 0 || position > text.length) return outOfRange(position);
  if (isFlat(text)) return text.charAt(position);
  const characters = codePointsOf(text);
  return position > characters.length ? outOfRange(position) : (characters[position] ?? "");
}

/** `indexOf`: where `part` begins at or after `offset`, -1 where nowhere. */
export function indexOf(text: string, part: string, offset: Int = 0): Result {
  if (offset < 0) return outOfRange(offset);
  const length = codePointLength(text);
  if (part === "") return offset < length ? offset : length;
  if (offset >= length) return -1;
  const index = text.indexOf(part, unitIndex(text, Number(offset)));
  return index <= 0 ? index : positionOf(text, index);
}

/** `lastIndexOf`: the last place where `part` begins, at or before `offset`. */
export function lastIndexOf(text: string, part: string, offset?: Int): Result {
  if (offset !== undefined && offset < 0) return outOfRange(offset);
  const length = codePointLength(text);
  if (part === "") return offset === undefined || offset >= length ? length : offset;
  if (offset !== undefined && offset >= length) return -1;
  const from = offset === undefined ? text.length : unitIndex(text, Number(offset));
  const index = text.lastIndexOf(part, from);
  return index <= 0 ? index : positionOf(text, index);
}

/** `substring`: from `start` to before `end`. */
export function substring(text: string, start: Int, end?: Int): Result {
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  const length = codePointLength(text);
  if (start < 0 || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > length)) return outOfRange(end);
  return text.slice(unitIndex(text, Number(start)), end === undefined ? undefined : unitIndex(text, Number(end)));
}
