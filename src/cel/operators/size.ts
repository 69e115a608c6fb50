/**
 * Sizes: what `size()` counts and what the cost model measures (spec kubernetes-cel.md 3.3 and 5.3).
 */

import { CelError } from "../values/cel-error.js";
import { MapValue } from "../values/map-value.js";
import { Optional } from "../values/optional.js";
import { ObjectValue, OpaqueValue, type Result } from "../values/value.js";
import { isPlainObject } from "./kind.js";
import { entriesOf, sizeOfMap } from "./maps.js";

/** The number of code points of a string. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    // A low surrogate behind a high one is the second half of one code point.
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/** The number of octets of a string's UTF-8 form. */
export function utf8Length(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) {
      // Each half of a surrogate pair brings two of the pair's four octets.
      count += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
    }
  }
  return count;
}

/** A size for the cost model: code points, octets, elements, entries; the content of an optional; 1 for anything without a size. */
export function costSize(value: Result): number {
  if (typeof value === "string") return codePoints(value);
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : costSize(value.value);
  if (value instanceof CelError) return 1;
  if (value instanceof OpaqueValue) return value.costSize;
  return sizeOfMap(value) ?? 1;
}

/** The cost of walking through a value once: a tenth of a text's octets, the sum over a list's elements or a map's keys and values. */
export function traversalCost(value: Result): number {
  if (typeof value === "string") return Math.floor(utf8Length(value) * 0.1);
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1);
  if (Array.isArray(value)) {
    let cost = 0;
    for (const element of value as readonly Result[]) cost += traversalCost(element);
    return cost;
  }
  if (value instanceof CelError || value instanceof ObjectValue) return 1;
  if (value instanceof MapValue || isPlainObject(value)) {
    let cost = 0;
    for (const [key, item] of entriesOf(value)) cost += traversalCost(key) + traversalCost(item);
    return cost;
  }
  return 1;
}
