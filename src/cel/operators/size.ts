/**
 * Sizes: the counts of `size()` and the measures of the cost model (spec kubernetes-cel.md 3.3 and 5.3).
 */

import { utf8Length } from "../../data/utf8.js";
import { CelError } from "../values/cel-error.js";
import { codePointLength } from "../values/code-points.js";
import { MapValue, ObjectValue, OpaqueValue, Optional, type Result } from "../values/value.js";
import { isPlainObject } from "./kind.js";
import { entriesOf, sizeOfMap } from "./maps.js";

/** A size for the cost model: code points, octets, elements, entries; the content of an optional; 1 for anything without a size. */
export function costSize(value: Result): number {
  if (typeof value === "string") return codePointLength(value);
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : costSize(value.value);
  if (value instanceof CelError) return 1;
  if (value instanceof OpaqueValue) return value.costSize;
  return sizeOfMap(value) ?? 1;
}

/** {@link costSize} since 1.38, where an optional has the size of one value. */
export const shallowSize = (value: Result): number => (value instanceof Optional ? 1 : costSize(value));

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
