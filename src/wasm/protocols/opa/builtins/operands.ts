/** Checks of what Rego passes to a builtin. */
import { isJsonObject } from "../../../../data/same-value.js";
import { printRego, RegoObject, RegoSet, WrittenNumber } from "../rego-value.js";

/** @throws when the operand is no string */
export function textOf(value: unknown, builtin: string): string {
  if (typeof value !== "string") throw new Error(`${builtin}: operand must be a string`);
  return value;
}

/**
 * Characters of a version, an amount or a time. Whatever means something has some dozens, and a number of a million digits takes a second to be read or printed.
 */
const LONGEST_WRITTEN = 4096;

/** A text that is a version, an amount or a time. @throws when it is no string, or too long for one */
export function writtenOf(value: unknown, builtin: string): string {
  const text = textOf(value, builtin);
  if (text.length > LONGEST_WRITTEN)
    throw new Error(`${builtin}: operand is longer than ${LONGEST_WRITTEN} characters`);
  return text;
}

/** @throws when the operand is no list */
export function listOf(value: unknown, builtin: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${builtin}: operand must be an array`);
  return value;
}

/** Whether a value is an object, of texts as keys or of others. */
export const isRegoObject = (value: unknown): value is object => isJsonObject(value) && !(value instanceof RegoSet);

/** @throws when the operand is no object */
export function objectOf(value: unknown, builtin: string): object {
  if (!isRegoObject(value)) throw new Error(`${builtin}: operand must be an object`);
  return value;
}

/** A member of an object; `undefined` where there is none. */
export function memberOf(object: object, key: string): unknown {
  if (object instanceof RegoObject) return object.entries.find(([each]) => each === key)?.[1];
  return Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Longest text, without its sign, that OPA takes for an integer. */
const INTEGER_CHARACTERS = 19;

/** The integer of 64 bits that a text is for OPA, which minds no zeros behind a point; `undefined` of any other. */
export function integerOfText(text: string): bigint | undefined {
  const [, sign = "", digits = "", zeros = ""] = /^([+-]?)(\d*)(\.0*)?$/.exec(text) ?? [];
  const { length } = digits + zeros;
  if (length === 0 || length > INTEGER_CHARACTERS) return undefined;
  const value = BigInt(digits) * (sign === "-" ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** @throws when the operand is no whole number of 64 bits */
export function integerOf(value: unknown, builtin: string): bigint {
  if (typeof value === "number") return BigInt(value);
  const integer =
    typeof value === "bigint" || value instanceof WrittenNumber ? integerOfText(printRego(value)) : undefined;
  if (integer === undefined) throw new Error(`${builtin}: operand must be an integer`);
  return integer;
}

/** A whole number as `rego-value` has it. */
export function integer(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
