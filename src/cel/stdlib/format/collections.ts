/** Lists and maps inside a formatted text. */
import { compareStrings } from "../../operators/compare.js";
import { entriesOf } from "../../operators/maps.js";
import { CelError } from "../../values/cel-error.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../../values/limits.js";
import type { Value } from "../../values/value.js";
import type { Work } from "../../values/work.js";

/** The work of an element, and of an entry, which is sorted among the others. */
const PART_UNITS = 300;
const ENTRY_UNITS = 1_000;

/** Writes a part; an error where it can't be written. */
export type PartText = (value: Value, work: Work) => string | CelError;

/** `[1, 2]`, or the first error. */
export function listText(list: readonly Value[], part: PartText, work: Work): string | CelError {
  const parts: string[] = [];
  let length = 0;
  for (const element of list) {
    const each = part(element, work);
    if (each instanceof CelError) return each;
    length += each.length;
    work.left -= PART_UNITS + each.length;
    if (length > MAX_TEXT_LENGTH || work.left < 0) return tooLarge();
    parts.push(each);
  }
  return `[${parts.join(", ")}]`;
}

/** `{a: 1, b: 2}` in the order of the keys' texts, or the first error. */
export function mapText(map: Value, key: PartText, part: PartText, colon: string, work: Work): string | CelError {
  const parts: (readonly [string, string])[] = [];
  let length = 0;
  for (const [name, value] of entriesOf(map)) {
    const keyText = key(name, work);
    if (keyText instanceof CelError) return keyText;
    const valueText = part(value, work);
    if (valueText instanceof CelError) return valueText;
    length += keyText.length + valueText.length;
    work.left -= ENTRY_UNITS + keyText.length + valueText.length;
    if (length > MAX_TEXT_LENGTH || work.left < 0) return tooLarge();
    parts.push([keyText, valueText]);
  }
  parts.sort(([a], [b]) => compareStrings(a, b));
  return `{${parts.map(([name, value]) => `${name}${colon}${value}`).join(", ")}}`;
}
