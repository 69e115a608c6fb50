/** Reading quantities (spec kubernetes-cel.md 4.9). */
import { CelError } from "../values/cel-error.js";
import { tooLarge } from "../values/limits.js";
import { INT_MAX, INT_MIN } from "../values/numbers.js";
import type { Amount, QuantityFormat } from "./quantity-amount.js";

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
/** The least scale a quantity may have. */
const NANO = -9;
/** Zeros up to which a precise amount is filled; more would only need memory. */
const MAX_FILLED_ZEROS = 400;

/** Parses a quantity; the error has the reference's text. */
export function parseQuantity(text: string): ParsedQuantity | CelError {
  if (text.length > MAX_LENGTH) return tooLarge();
  const match = text === "" ? null : SHAPE.exec(text);
  if (match === null) return new CelError(WRONG_FORMAT);
  const [, sign, written = "", fraction = "", suffixText = ""] = match;
  const digits = written.replace(/^0+/, "");
  const suffix = SUFFIXES.get(suffixText) ?? exponentSuffix(suffixText);
  if (suffix === undefined) return new CelError(WRONG_SUFFIX);
  const whole = digits === "" ? "0" : digits;
  const negative = sign === "-";
  const fast = fastQuantity(text, negative, whole, fraction, suffix);
  if (fast !== undefined) return fast;
  // A missing number counts as zero in the fast form only.
  if (written + fraction === "") return new CelError(WRONG_NUMBER);
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
): ParsedQuantity | undefined {
  let scale: number;
  let factor = 1n;
  if (base === 10) {
    if (whole.length + fraction.length > MAX_FAST_DIGITS) return undefined;
    scale = (exponent - fraction.length) | 0;
  } else {
    if (fraction !== "" || MAX_BINARY_DIGITS - whole.length - Math.floor((exponent * 3) / 10) - 1 < 0) return undefined;
    scale = 0;
    factor = 1n << BigInt(exponent);
  }
  if (scale < NANO) return undefined;
  const shifted = whole + fraction;
  const value = BigInt(shifted);
  if (value * factor > INT_MAX) return undefined;
  const kept = base === 2 ? exponent % 10 === 0 && (value & 7n) !== 0n : isCanonical(shifted, scale);
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
