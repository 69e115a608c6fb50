/** Checks of what Rego passes to a builtin. */
import { isJsonObject } from "../../../data/same-value.js";

/** @throws when the operand is no string */
export function textOf(value: unknown, builtin: string): string {
  if (typeof value !== "string") throw new Error(`${builtin}: operand must be a string`);
  return value;
}

/** @throws when the operand is no list */
export function listOf(value: unknown, builtin: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${builtin}: operand must be an array`);
  return value;
}

/** @throws when the operand is no object */
export function objectOf(value: unknown, builtin: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error(`${builtin}: operand must be an object`);
  return value;
}

/** @throws when the operand is no whole number of 64 bits, written as one */
export function integerOf(value: unknown, builtin: string): bigint {
  if (typeof value === "number") return BigInt(value);
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return value;
  throw new Error(`${builtin}: operand must be an integer`);
}

/** A whole number as `rego-value` has it. */
export function integer(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
