/** Checks of a builtin's operands. */
import { isJsonObject } from "../../../../data/same-value.js";
import { printRego, RegoObject, RegoSet, WrittenNumber } from "../rego-value.js";

/** @throws when the operand is not a string */
export function textOf(value: unknown, builtin: string): string {
  if (typeof value !== "string") throw new Error(`${builtin}: operand must be a string`);
  return value;
}

/**
 * Most characters of a version, an amount or a time. Meaningful ones have some dozens, and parsing or printing a number of a million digits takes a
 * second.
 */
const LONGEST_WRITTEN = 4096;

/** A text that is a version, an amount or a time. @throws when it is not a string, or too long */
export function writtenOf(value: unknown, builtin: string): string {
  const text = textOf(value, builtin);
  if (text.length > LONGEST_WRITTEN)
    throw new Error(`${builtin}: operand is longer than ${LONGEST_WRITTEN} characters`);
  return text;
}

/** @throws when the operand is not a list */
export function listOf(value: unknown, builtin: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${builtin}: operand must be an array`);
  return value;
}

/** Whether a value is an object, with keys of any type. */
export const isRegoObject = (value: unknown): value is object => isJsonObject(value) && !(value instanceof RegoSet);

/** @throws when the operand is not an object */
export function objectOf(value: unknown, builtin: string): object {
  if (!isRegoObject(value)) throw new Error(`${builtin}: operand must be an object`);
  return value;
}

/** A member of an object; `undefined` where there is none. */
export function memberOf(object: object, key: string): unknown {
  if (object instanceof RegoObject) return object.entries.find(([each]) => each === key)?.[1];
  return Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Characters of the longest text, without its sign, that OPA accepts as an integer. */
const INTEGER_CHARACTERS = 19;

/** Parses a text as OPA's integer of 64 bits, which may have zeros behind a point; `undefined` for any other. */
export function integerOfText(text: string): bigint | undefined {
  const [, sign = "", digits = "", zeros = ""] = /^([+-]?)(\d*)(\.0*)?$/.exec(text) ?? [];
  const { length } = digits + zeros;
  if (length === 0 || length > INTEGER_CHARACTERS) return undefined;
  const value = BigInt(digits) * (sign === "-" ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** @throws when the operand is not a whole number of 64 bits */
export function integerOf(value: unknown, builtin: string): bigint {
  if (typeof value === "number") return BigInt(value);
  const integer =
    typeof value === "bigint" || value instanceof WrittenNumber ? integerOfText(printRego(value)) : undefined;
  if (integer === undefined) throw new Error(`${builtin}: operand must be an integer`);
  return integer;
}

/** A whole number as in `rego-value`. */
export function integer(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
