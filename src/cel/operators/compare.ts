/**
 * Equality and ordering (spec kubernetes-cel.md 2.2 and 2.3).
 */
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { Duration, Timestamp } from "../values/time.js";
import { TypeValue } from "../values/type-value.js";
import { Uint } from "../values/uint.js";
import { MapValue, ObjectValue, OpaqueValue, Optional, type Value } from "../values/value.js";
import type { Work } from "../values/work.js";
import { isPlainObject } from "./kind.js";
import { entriesOf, findKey, sizeOfMap } from "./maps.js";

const MIN_INT64 = -(2 ** 63);
const MAX_INT64 = 2 ** 63;
const MAX_UINT64 = 2 ** 64;

/** The work of comparing two values that are not texts, and of finding an entry of a map. */
const VALUE_UNITS = 10;
const ENTRY_UNITS = 100;
/** Characters that are compared at a time. */
const CHARACTERS_AT_ONCE = 4;

/**
 * `a == b` at run time: a boolean, or an error where the left side's class refuses the comparison. The work is taken from `work`; the caller checks
 * it.
 */
export function equals(a: Value, b: Value, work: Work): boolean | CelError {
  work.left -= VALUE_UNITS;
  if (typeof a === typeof b && typeof a !== "object") {
    if (typeof a === "string" && a.length === (b as string).length) work.left -= a.length / CHARACTERS_AT_ONCE;
    return a === b; // the representation of a value is unique
  }
  if (a === null || b === null) return a === b;
  switch (typeof a) {
    case "string":
    case "boolean":
      return false;
    case "number":
    case "bigint":
      return compareNumbers(a, b) === 0;
    default:
      return equalObjects(a, b, work);
  }
}

function equalObjects(a: Value, b: Value, work: Work): boolean | CelError {
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, work);
  if (a instanceof Number || a instanceof Uint) return compareNumbers(a, b) === 0;
  if (isPlainObject(a) || a instanceof MapValue) return equalMaps(a, b, work);
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    // The optional's value decides itself, also about null.
    if (a.value instanceof OpaqueValue) return a.value.equals(b.value);
    return equals(a.value, b.value, work);
  }
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof OpaqueValue) return a.equals(b);
  if (a instanceof ObjectValue) return b instanceof ObjectValue && (a.isSame(b, work) ?? equalFields(a, b, work));
  return false;
}

function equalLists(a: readonly Value[], b: readonly Value[], work: Work): boolean {
  if (a.length !== b.length) return false;
  // An element comparison that errors counts as equal.
  for (let i = 0; i < a.length; i++) if (equals(a[i] as Value, b[i] as Value, work) === false) return false;
  return true;
}

function equalMaps(a: Value, b: Value, work: Work): boolean {
  if (isPlainObject(a) && isPlainObject(b)) {
    const keys = work.keysOf(a);
    if (keys.length !== work.keysOf(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key) || !equalEntries(a[key] as Value, b[key] as Value, work)) return false;
    }
    return true;
  }
  const size = sizeOfMap(b);
  if (size === undefined || size !== sizeOfMap(a)) return false;
  for (const [key, value] of entriesOf(a)) {
    const other = findKey(b, key);
    if (other === undefined || !equalEntries(value, other, work)) return false;
  }
  return true;
}

function equalEntries(a: Value, b: Value, work: Work): boolean {
  work.left -= ENTRY_UNITS;
  return equals(a, b, work) !== false;
}

function equalFields(a: ObjectValue, b: ObjectValue, work: Work): boolean | CelError {
  if (a.typeName !== b.typeName) return false;
  const names = [...a.fields()];
  if (names.length !== [...b.fields()].length) return false;
  for (const name of names) {
    const left = a.get(name);
    const right = b.get(name);
    if (left instanceof CelError) return left;
    if (right instanceof CelError) return right;
    if (left === undefined || right === undefined || equals(left, right, work) === false) return false;
  }
  return true;
}

/** Whether some element equals `value`; errors of single comparisons are ignored. */
export function listContains(list: readonly Value[], value: Value, work: Work): boolean {
  // The wanted value is the left side, so that null finds null only and an error means "not this one".
  for (const element of list) if (equals(value, element, work) === true) return true;
  return false;
}

/**
 * The order of two values: negative, zero or positive. "no such overload" where the right side cannot be compared with the left; the bare
 * text, for the caller to add the operator's name to where the left side has no order at all (`undefined`).
 */
export function compare(a: Value, b: Value): number | CelError | undefined {
  switch (typeof a) {
    case "number":
    case "bigint":
      return orderNumbers(a, b);
    case "string":
      return typeof b === "string" ? compareStrings(a, b) : noSuchOverload();
    case "boolean":
      return typeof b === "boolean" ? Number(a) - Number(b) : noSuchOverload();
  }
  if (a instanceof Number || a instanceof Uint) return orderNumbers(a, b);
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareTimestamps(a, b) : noSuchOverload();
  if (a instanceof Duration) return b instanceof Duration ? compareIntegers(a.nanos, b.nanos) : noSuchOverload();
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : noSuchOverload();
  return undefined;
}

function orderNumbers(a: Value, b: Value): number | CelError {
  // NaN has no order with anything, be it a number or not.
  const order = Number.isNaN(a) ? Number.NaN : compareNumbers(a, b);
  if (order === undefined) return noSuchOverload();
  return Number.isNaN(order) ? new CelError("NaN values cannot be ordered") : order;
}

/** The order of two numbers of any kinds on one line; NaN where one is NaN; `undefined` where `b` is not a number. `a` is a number. */
export function compareNumbers(a: Value, b: Value): number | undefined {
  const left = a instanceof Uint ? a.value : a instanceof Number ? a.valueOf() : (a as number | bigint);
  const right = b instanceof Uint ? b.value : b instanceof Number ? b.valueOf() : b;
  if (typeof right !== "number" && typeof right !== "bigint") return undefined;
  const leftInteger =
    typeof left === "bigint" || a instanceof Uint || (typeof a === "number" && Number.isSafeInteger(a));
  const rightInteger =
    typeof right === "bigint" || b instanceof Uint || (typeof b === "number" && Number.isSafeInteger(b));
  if (leftInteger && rightInteger) return compareIntegers(left, right);
  if (leftInteger) return compareIntegerWithDouble(left, right as number, a instanceof Uint);
  if (rightInteger) return -(compareIntegerWithDouble(right, left as number, b instanceof Uint) as number);
  return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;
}

function compareIntegerWithDouble(integer: number | bigint, double: number, unsigned: boolean): number {
  if (Number.isNaN(double)) return Number.NaN;
  if (unsigned ? double > MAX_UINT64 : double > MAX_INT64) return -1;
  if (double < (unsigned ? 0 : MIN_INT64)) return 1;
  const rounded = Number(integer);
  return rounded < double ? -1 : rounded > double ? 1 : 0;
}

function compareIntegers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of two instants. */
function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return a.seconds === b.seconds ? a.nanos - b.nanos : a.seconds - b.seconds;
}

/** The order of two byte strings: octet by octet, the shorter first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * The order of two strings by code points, which is the order of their UTF-8 bytes. JavaScript's own compares UTF-16 units, where
 * surrogates come before U+E000 … U+FFFF.
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) {
      const leftSurrogate = left >= 0xd800 && left <= 0xdfff;
      const rightSurrogate = right >= 0xd800 && right <= 0xdfff;
      if (leftSurrogate !== rightSurrogate) return leftSurrogate ? 1 : -1;
      return left - right;
    }
  }
  return a.length - b.length;
}
