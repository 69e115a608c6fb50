/**
 * One step of `.f`, `[k]`, `.?f`, `[?k]` and `has(e.f)` (spec kubernetes-cel.md 2.5 and 2.7), the slow and complete way. Generated code reads plain
 * objects and arrays itself and comes here for everything else.
 */
import { CelError } from "../values/cel-error.js";
import { Uint } from "../values/uint.js";
import { MapValue, ObjectValue, type Result, type Value } from "../values/value.js";
import { doubleOf, isPlainObject, kindOf, typeNameOf } from "./kind.js";
import { findKey } from "./maps.js";
import { printKey } from "./print.js";

/** Whether a value may stand inside `[]` at run time: string, bool, int, uint or double. */
export function isQualifier(key: Value): boolean {
  return typeof key !== "object" || key instanceof Number || key instanceof Uint;
}

const noSuchKey = (key: Value): CelError => new CelError(`no such key: ${printKey(key)}`, "no-such-key");

/** The value of `operand[key]`, or the error. */
export function qualify(operand: Value, key: Value): Result {
  const found = partOf(operand, key);
  if (found !== undefined) return found;
  return Array.isArray(operand)
    ? new CelError(`index out of bounds: ${printKey(key)}`, "index-out-of-bounds")
    : noSuchKey(key);
}

/** The value of `operand.field` where a provided type declares the field, or the error. */
export function qualifyDeclared(operand: Value, field: string): Result {
  if (!(operand instanceof ObjectValue)) return qualify(operand, field);
  const value = operand.getDeclared(field);
  return value === undefined ? noSuchKey(field) : value;
}

/** {@link isPresent} of such a field. */
export const isDeclaredPresent = (operand: Value, field: string): boolean | CelError =>
  operand instanceof ObjectValue ? operand.hasDeclared(field) : isPresent(operand, field);

/**
 * {@link qualifyOptional} and {@link isPresent} by the language definition: a value without fields is an error. For Kubernetes the field is absent.
 */
export function qualifyOptionalStrictly(operand: Value, key: Value): Result | undefined {
  return hasParts(operand) ? qualifyOptional(operand, key) : noSuchKey(key);
}

/** {@link isPresent} where a value without fields is an error. */
export function isPresentStrictly(operand: Value, key: string): boolean | CelError {
  return hasParts(operand) ? isPresent(operand, key) : noSuchKey(key);
}

function hasParts(operand: Value): boolean {
  const kind = kindOf(operand);
  return kind === "map" || kind === "list" || kind === "object" || kind === "optional";
}

/** Whether `has(operand.key)` holds, or the error. */
export function isPresent(operand: Value, key: string): boolean | CelError {
  if (operand instanceof ObjectValue) return operand.has(key);
  const found = qualifyOptional(operand, key);
  return found instanceof CelError ? found : found !== undefined;
}

/** The value of `operand[?key]`: `undefined` when there is none. An error for an invalid list index, and for errors of an object. */
export function qualifyOptional(operand: Value, key: Value): Result | undefined {
  if (!(operand instanceof ObjectValue) || typeof key !== "string") return partOf(operand, key);
  // A field may have a value and still count as absent.
  const present = operand.has(key);
  if (present instanceof CelError) return present;
  return present ? operand.get(key) : undefined;
}

/** The value of a field, element or entry, present or not. */
function partOf(operand: Value, key: Value): Result | undefined {
  if (isPlainObject(operand)) {
    return typeof key === "string" && Object.hasOwn(operand, key) ? operand[key] : undefined;
  }
  if (Array.isArray(operand)) {
    const index = indexOf(key);
    return index instanceof CelError ? index : (operand as readonly Value[])[index];
  }
  if (operand instanceof MapValue) return findKey(operand, key);
  if (operand instanceof ObjectValue) return typeof key === "string" ? operand.get(key) : operand.at(key);
  return undefined;
}

/** A list index as a number (out of any list's range when it is large), or the error of an invalid one. */
function indexOf(key: Value): number | CelError {
  const integer = key instanceof Uint ? key.value : key;
  if (typeof integer === "bigint") {
    return key instanceof Uint && integer > 2n ** 63n - 1n ? unsupportedValue(key) : Number(integer);
  }
  const double = doubleOf(key);
  if (double === undefined) {
    if (typeof integer === "number") return integer;
    return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
  }
  return Number.isInteger(double) && Math.abs(double) < 2 ** 63 ? double : unsupportedValue(key);
}

const unsupportedValue = (key: Value): CelError => new CelError(`unsupported index value ${printKey(key)} in list`);
