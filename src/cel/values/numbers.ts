import { CelError } from "./cel-error.js";
import { Uint, uintOf } from "./uint.js";
import type { Value } from "./value.js";

/** The least int: -2^63. */
export const INT_MIN = -(2n ** 63n);
/** The greatest int: 2^63-1. */
export const INT_MAX = 2n ** 63n - 1n;
/** The greatest uint: 2^64-1. */
export const UINT_MAX = 2n ** 64n - 1n;

/** A double as a value: integral ones are `Number` objects (see value.ts). */
// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
export const makeDouble = (value: number): number | Number => (Number.isSafeInteger(value) ? Object(value) : value);

/** An int as a value; the caller has checked that it is within int64. */
export const makeInt = (value: bigint): number | bigint => {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
};

/** Whether the value is an int. */
export const isInt = (value: Value): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));

/** Whether the value is a double. */
// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
export const isDouble = (value: Value): value is number | Number =>
  value instanceof Number || (typeof value === "number" && !Number.isSafeInteger(value));

/** The error of a result outside the range of int or uint. */
export const overflow = (kind: "integer" | "unsigned integer"): CelError =>
  new CelError(`${kind} overflow`, "overflow");

/** The int as a value, or the error when it is outside int64. */
export const intResult = (value: bigint): number | bigint | CelError =>
  value < INT_MIN || value > INT_MAX ? overflow("integer") : makeInt(value);

/** The uint as a value, or the error when it is outside uint64. */
export const uintResult = (value: bigint): Uint | CelError =>
  value < 0n || value > UINT_MAX ? overflow("unsigned integer") : uintOf(value);

/** An int, uint or double as a double; `undefined` for values of other kinds. */
export function numberOf(value: Value): number | undefined {
  if (isInt(value)) return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return isDouble(value) ? value.valueOf() : undefined;
}
