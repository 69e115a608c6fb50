/**
 * `+ - * / %` and unary minus on values of any kind (spec kubernetes-cel.md 2.4). Generated code handles small ints itself and comes here
 * for the rest. The second operand's kind must fit the first's: there is no implicit conversion.
 */
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MAX_LIST_LENGTH, MAX_TEXT_LENGTH, tooLarge } from "../values/limits.js";
import { INT_MIN, intResult, makeDouble, makeInt, overflow, uintResult } from "../values/numbers.js";
import { Duration, Timestamp } from "../values/time.js";
import { isInRange } from "../values/timestamp-text.js";
import type { Uint } from "../values/uint.js";
import type { Result, Value } from "../values/value.js";
import { type Kind, kindOf } from "./kind.js";

const NANOS_PER_SECOND = 1_000_000_000n;

const divisionByZero = (): CelError => new CelError("division by zero", "division-by-zero");

/** The text for operands that an operator does not take (spec kubernetes-cel.md 3.1). */
function refuse(operator: string, kind: Kind): CelError {
  // Strings and times have methods of their own in the reference: its error is the bare text.
  const bare = kind === "string" || kind === "timestamp" || kind === "duration";
  return noSuchOverload(bare ? undefined : operator);
}

const big = (value: Value): bigint => BigInt(value as number | bigint);
const bigOfUint = (value: Value): bigint => BigInt((value as Uint).value);
const number = (value: Value): number => (value as number).valueOf();
const nanosOf = (value: Value): bigint => BigInt((value as Duration).nanos);

/** The duration of that many nanoseconds, or the overflow error. */
export function durationOf(nanos: bigint): Result {
  const checked = intResult(nanos);
  return checked instanceof CelError ? checked : new Duration(checked);
}

const totalNanos = (value: Value): bigint =>
  BigInt((value as Timestamp).seconds) * NANOS_PER_SECOND + BigInt((value as Timestamp).nanos);

function timestampOf(nanos: bigint, offsetSeconds: number): Result {
  let seconds = nanos / NANOS_PER_SECOND;
  let rest = nanos % NANOS_PER_SECOND;
  if (rest < 0n) {
    seconds -= 1n;
    rest += NANOS_PER_SECOND;
  }
  if (!isInRange(Number(seconds))) return new CelError("timestamp overflow", "overflow");
  return new Timestamp(Number(seconds), Number(rest), offsetSeconds);
}

/** `a + b`. */
export function add(a: Value, b: Value): Result {
  const kind = kindOf(a);
  const other = kindOf(b);
  switch (kind) {
    case "int":
      return other === "int" ? intResult(big(a) + big(b)) : noSuchOverload();
    case "uint":
      return other === "uint" ? uintResult(bigOfUint(a) + bigOfUint(b)) : noSuchOverload();
    case "double":
      return other === "double" ? makeDouble(number(a) + number(b)) : noSuchOverload();
    case "string":
      return other === "string" ? (a as string) + (b as string) : noSuchOverload();
    case "bytes":
      return other === "bytes" ? concatBytes(a as Uint8Array, b as Uint8Array) : noSuchOverload();
    case "list":
      return other === "list" ? concatLists(a as readonly Value[], b as readonly Value[]) : noSuchOverload();
    case "duration":
      if (other === "duration") return durationOf(nanosOf(a) + nanosOf(b));
      if (other === "timestamp") return timestampOf(totalNanos(b) + nanosOf(a), (b as Timestamp).offsetSeconds);
      return noSuchOverload();
    case "timestamp":
      if (other !== "duration") return noSuchOverload();
      return timestampOf(totalNanos(a) + nanosOf(b), (a as Timestamp).offsetSeconds);
    default:
      return refuse("_+_", kind);
  }
}

function concatLists(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  return a.length + b.length > MAX_LIST_LENGTH ? tooLarge() : a.concat(b);
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length + b.length > MAX_TEXT_LENGTH) return tooLarge();
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Result {
  const kind = kindOf(a);
  const other = kindOf(b);
  switch (kind) {
    case "int":
      return other === "int" ? intResult(big(a) - big(b)) : noSuchOverload();
    case "uint":
      return other === "uint" ? uintResult(bigOfUint(a) - bigOfUint(b)) : noSuchOverload();
    case "double":
      return other === "double" ? makeDouble(number(a) - number(b)) : noSuchOverload();
    case "duration":
      return other === "duration" ? durationOf(nanosOf(a) - nanosOf(b)) : noSuchOverload();
    case "timestamp":
      if (other === "duration") return timestampOf(totalNanos(a) - nanosOf(b), (a as Timestamp).offsetSeconds);
      return other === "timestamp" ? durationOf(totalNanos(a) - totalNanos(b)) : noSuchOverload();
    default:
      return refuse("_-_", kind);
  }
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Result {
  const kind = kindOf(a);
  const other = kindOf(b);
  switch (kind) {
    case "int":
      return other === "int" ? intResult(big(a) * big(b)) : noSuchOverload();
    case "uint":
      return other === "uint" ? uintResult(bigOfUint(a) * bigOfUint(b)) : noSuchOverload();
    case "double":
      return other === "double" ? makeDouble(number(a) * number(b)) : noSuchOverload();
    default:
      return refuse("_*_", kind);
  }
}

/** `a / b`: integers truncate toward zero. */
export function divide(a: Value, b: Value): Result {
  const kind = kindOf(a);
  const other = kindOf(b);
  switch (kind) {
    case "int":
      if (other !== "int") return noSuchOverload();
      return b === 0 ? divisionByZero() : intResult(big(a) / big(b));
    case "uint":
      if (other !== "uint") return noSuchOverload();
      return (b as Uint).value === 0 ? divisionByZero() : uintResult(bigOfUint(a) / bigOfUint(b));
    case "double":
      return other === "double" ? makeDouble(number(a) / number(b)) : noSuchOverload();
    default:
      return refuse("_/_", kind);
  }
}

/** `a % b`: the remainder takes the dividend's sign; the smallest int with -1 overflows, as its quotient does. */
export function modulo(a: Value, b: Value): Result {
  const kind = kindOf(a);
  const other = kindOf(b);
  switch (kind) {
    case "int":
      if (other !== "int") return noSuchOverload();
      if (b === 0) return new CelError("modulus by zero", "division-by-zero");
      return b === -1 && big(a) === INT_MIN ? overflow("integer") : makeInt(big(a) % big(b));
    case "uint":
      if (other !== "uint") return noSuchOverload();
      return (b as Uint).value === 0
        ? new CelError("modulus by zero", "division-by-zero")
        : uintResult(bigOfUint(a) % bigOfUint(b));
    default:
      return refuse("_%_", kind);
  }
}

/** `-a`. */
export function negate(a: Value): Result {
  const kind = kindOf(a);
  switch (kind) {
    case "int":
      return intResult(-big(a));
    case "double":
      return makeDouble(-number(a));
    case "duration":
      return durationOf(-nanosOf(a));
    case "bool":
      return noSuchOverload();
    default:
      return refuse("-_", kind);
  }
}
