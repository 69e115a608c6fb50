/** Reading quantities (spec kubernetes-cel.md 4.9). */

import type { Behaviour } from "../../data/kubernetes-version.js";
import { CelError } from "../values/cel-error.js";
import { tooLarge } from "../values/limits.js";
import { INT_MAX, INT_MIN } from "../values/numbers.js";
import { type Amount, compareAmounts, type QuantityFormat, roundAmount } from "./quantity-amount.js";

/** A parsed quantity. `text` is set where the reference keeps the written text and prints that. */
export interface ParsedQuantity {
  readonly amount: Amount;
  readonly format: QuantityFormat;
  readonly text: string | undefined;
}

/** The parts of a quantity. Digits are followed by digits of the same group only, so that no text is tried in more than one way. */
const SHAPE = /^([+-]?)([0-9]*)(?![0-9])(?:\.([0-9]*)(?![0-9]))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** Most characters of a quantity: an int64 has 19 digits. The reference has no limit, and takes time that grows with the square of the length. */
const MAX_LENGTH = 4_096;

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const decimal = (exponent: number): Suffix => ({ base: 10, exponent, format: "decimal" });
const binary = (exponent: number): Suffix => ({ base: 2, exponent, format: "binary" });

const SUFFIXES: ReadonlyMap<string, Suffix> = new Map([
  ["n", decimal(-9)],
  ["u", decimal(-6)],
  ["m", decimal(-3)],
  ["", decimal(0)],
  ["k", decimal(3)],
  ["M", decimal(6)],
  ["G", decimal(9)],
  ["T", decimal(12)],
  ["P", decimal(15)],
  ["E", decimal(18)],
  ["Ki", binary(10)],
  ["Mi", binary(20)],
  ["Gi", binary(30)],
  ["Ti", binary(40)],
  ["Pi", binary(50)],
  ["Ei", binary(60)],
]);

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = "unable to parse numeric part of quantity";
const WRONG_SUFFIX = "unable to parse quantity's suffix";

/** Digits that always fit an int64, and those that a binary quantity may have before its factor. */
const MAX_FAST_DIGITS = 18;
const MAX_BINARY_DIGITS = 15;
/** Digits that are kept since 1.38, of binary quantities before their factor. */
const MAX_DIGITS = 29;
const MAX_DIGITS_BEFORE_FACTOR = 70;
/** The least exponent, which has no negative, is none since 1.38. */
const LEAST_EXPONENT = -(2 ** 31);
/** The least scale a quantity may have. */
const NANO = -9;
/** Zeros up to which a precise amount is filled; more would only need memory. */
const MAX_FILLED_ZEROS = 400;

/** Parses a quantity; the error has the reference's text. */
export function parseQuantity(text: string, behaviour: Behaviour): ParsedQuantity | CelError {
  if (text.length > MAX_LENGTH) return tooLarge();
  const match = text === "" ? null : SHAPE.exec(text);
  if (match === null) return new CelError(WRONG_FORMAT);
  const [, sign, written = "", fraction = "", suffixText = ""] = match;
  const digits = written.replace(/^0+/, "");
  const suffix = SUFFIXES.get(suffixText) ?? exponentSuffix(suffixText);
  if (suffix === undefined) return new CelError(WRONG_SUFFIX);
  const whole = digits === "" ? "0" : digits;
  const negative = sign === "-";
  const fast = fastQuantity(text, negative, whole, fraction, suffix, behaviour);
  if (fast !== undefined) return fast;
  // A missing number counts as zero in the fast form only.
  if (written + fraction === "") return new CelError(WRONG_NUMBER);
  if (behaviour === "1.38") return boundedQuantity(negative, whole, fraction, suffix);
  return preciseQuantity(negative, whole, fraction, suffix);
}

/** `e5`, `E-3`: the exponent is an int64 of which the lower 32 bits count. */
function exponentSuffix(text: string): Suffix | undefined {
  if (!/^[eE][-+]?[0-9]+$/.test(text)) return undefined;
  const digits = text.replace(/^[eE][-+]?0*/, "");
  if (digits.length > 19) return undefined;
  const value = text[1] === "-" ? -BigInt(digits) : BigInt(digits);
  if (value < INT_MIN || value > INT_MAX) return undefined;
  return { base: 10, exponent: Number(BigInt.asIntN(32, value)), format: "exponent" };
}

function fastQuantity(
  text: string,
  negative: boolean,
  whole: string,
  fraction: string,
  { base, exponent, format }: Suffix,
  behaviour: Behaviour,
): ParsedQuantity | undefined {
  const digits = whole.length + fraction.length;
  let scale: number;
  let factor = 1n;
  if (base === 10) {
    // Since 1.38 the longest int64 is one, too.
    if (digits > MAX_FAST_DIGITS + (behaviour === "1.38" ? 1 : 0)) return undefined;
    scale = (exponent - fraction.length) | 0;
  } else {
    if (fraction !== "" || MAX_BINARY_DIGITS - whole.length - Math.floor((exponent * 3) / 10) - 1 < 0) return undefined;
    scale = 0;
    factor = 1n << BigInt(exponent);
  }
  if (scale < NANO) return undefined;
  const shifted = whole + fraction;
  const value = BigInt(shifted);
  if (value * factor > INT_MAX && !(negative && factor === 1n && -value === INT_MIN)) return undefined;
  const canonical = digits <= MAX_FAST_DIGITS && isCanonical(shifted, scale);
  const kept = base === 2 ? exponent % 10 === 0 && (value & 7n) !== 0n : canonical;
  return {
    amount: { unscaled: negative ? -(value * factor) : value * factor, scale, fast: true },
    format,
    text: kept || text === "0" ? text : undefined,
  };
}

const isCanonical = (shifted: string, scale: number): boolean =>
  scale % 3 === 0 && !shifted.endsWith("000") && !shifted.startsWith("0");

function preciseQuantity(
  negative: boolean,
  whole: string,
  fraction: string,
  { base, exponent, format }: Suffix,
): ParsedQuantity {
  let unscaled = BigInt(whole + fraction);
  let scale = -fraction.length;
  if (base === 10) scale += exponent;
  else unscaled <<= BigInt(exponent);
  if (unscaled !== 0n) ({ unscaled, scale } = roundedUp(unscaled, scale));
  let resultFormat = format;
  if (format === "binary") {
    if (unscaled > INT_MAX * 10n ** BigInt(-scale)) ({ unscaled, scale } = { unscaled: INT_MAX, scale: 0 });
    if (unscaled > 0n && unscaled < 10n ** BigInt(-scale)) resultFormat = "decimal";
  }
  return {
    amount: { unscaled: negative ? -unscaled : unscaled, scale, fast: false },
    format: resultFormat,
    text: undefined,
  };
}

/** {@link preciseQuantity} since 1.38. */
function boundedQuantity(
  negative: boolean,
  whole: string,
  fraction: string,
  { base, exponent, format }: Suffix,
): ParsedQuantity | CelError {
  if (base === 10 && exponent === LEAST_EXPONENT) return new CelError(WRONG_SUFFIX);
  const digits = (whole + fraction).replace(/^0+/, "");
  const dropped = Math.max(0, digits.length - (base === 2 ? MAX_DIGITS_BEFORE_FACTOR : MAX_DIGITS));
  const written = { unscaled: BigInt(digits), scale: -fraction.length, fast: false };
  let amount = roundAmount(written, written.scale + dropped);
  if (base === 2) amount = { ...amount, unscaled: amount.unscaled << BigInt(exponent) };
  else amount = { ...amount, scale: Math.min(amount.scale + exponent, GREATEST_SCALE) };
  amount = roundAmount(amount, NANO);
  if (format === "binary" && compareAmounts(amount, GREATEST_BINARY) > 0) amount = GREATEST_BINARY;
  const small = amount.unscaled !== 0n && compareAmounts(amount, ONE) < 0;
  return {
    amount: negative ? { ...amount, unscaled: -amount.unscaled } : amount,
    format: format === "binary" && small ? "decimal" : format,
    text: undefined,
  };
}

const GREATEST_SCALE = 2 ** 31 - 1;
const GREATEST_BINARY: Amount = { unscaled: INT_MAX, scale: 0, fast: false };
const ONE: Amount = { unscaled: 1n, scale: 0, fast: false };

/** The amount with at most nine digits behind the point, rounded away from zero; and as many, filled with zeros, if those are not too many. */
function roundedUp(unscaled: bigint, scale: number): { unscaled: bigint; scale: number } {
  if (scale >= NANO) {
    const zeros = scale - NANO;
    return zeros > MAX_FILLED_ZEROS ? { unscaled, scale } : { unscaled: unscaled * 10n ** BigInt(zeros), scale: NANO };
  }
  const dropped = NANO - scale;
  // Fewer digits than are dropped: the result is the smallest quantity.
  if (dropped > unscaled.toString().length) return { unscaled: 1n, scale: NANO };
  const divisor = 10n ** BigInt(dropped);
  return { unscaled: (unscaled + divisor - 1n) / divisor, scale: NANO };
}
