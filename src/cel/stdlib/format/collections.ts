/** Lists and maps inside a formatted text. */
import { compareStrings } from "../../operators/compare.js";
import { entriesOf } from "../../operators/maps.js";
import { CelError } from "../../values/cel-error.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../../values/limits.js";
import type { Value } from "../../values/value.js";

/** How a part is written; an error where it can't be. */
export type PartText = (value: Value) => string | CelError;

/** `[1, 2]`, or the first error. */
export function listText(list: readonly Value[], part: PartText): string | CelError {
  const parts: string[] = [];
  let length = 0;
  for (const element of list) {
    const each = part(element);
    if (each instanceof CelError) return each;
    length += each.length;
    if (length > MAX_TEXT_LENGTH) return tooLarge();
    parts.push(each);
  }
  return `[${parts.join(", ")}]`;
}

/** `{a: 1, b: 2}` in the order of the keys' texts, or the first error. */
export function mapText(map: Value, key: PartText, part: PartText, colon: string): string | CelError {
  const parts: (readonly [string, string])[] = [];
  let length = 0;
  for (const [name, value] of entriesOf(map)) {
    const keyText = key(name);
    if (keyText instanceof CelError) return keyText;
    const valueText = part(value);
    if (valueText instanceof CelError) return valueText;
    length += keyText.length + valueText.length;
    if (length > MAX_TEXT_LENGTH) return tooLarge();
    parts.push([keyText, valueText]);
  }
  parts.sort(([a], [b]) => compareStrings(a, b));
  return `{${parts.map(([name, value]) => `${name}${colon}${value}`).join(", ")}}`;
}
