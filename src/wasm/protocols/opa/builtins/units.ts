import { WrittenNumber } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { integer, writtenOf } from "./operands.js";

/** A number without rounding; the denominator is positive. */
type Fraction = readonly [numerator: bigint, denominator: bigint];

/** An exponent that OPA accepts. */
const EXPONENT = /^[+-]?\d{1,6}$/;
/** Greatest exponent, above or below zero: no amount has this many digits, and printing a million takes a second. */
const LARGEST_EXPONENT = 1_000;
/** Digits behind the point of an amount that is not whole. */
const DECIMALS = 10n;
/** `m` is the double nearest to a thousandth. */
const MILLI: Fraction = [1152921504606847n, 2n ** 60n];
/** Bits of the floats that bytes are computed with. */
const FLOAT_BITS = 64;

const POWERS: Readonly<Record<string, bigint>> = Object.fromEntries(
  ["k", "m", "g", "t", "p", "e"].flatMap((letter, index) => [
    [letter, 1000n ** BigInt(index + 1)],
    [`${letter}i`, 1024n ** BigInt(index + 1)],
  ]),
);

/** `units.*`: quantities with a unit, as Kubernetes and others write them, computed as exactly as OPA does. */
export const unitBuiltins: Readonly<Record<string, Builtin>> = {
  "units.parse": (value) => {
    const [amount, unit] = parts(writtenOf(value, "units.parse"), "units.parse");
    // Its first letter may tell `m` from `M`; those behind it may not, but it has to be a letter of ASCII.
    const lower = /^[A-Za-z]/.test(unit) ? lowerCase(unit) : unit;
    const factor: Fraction = unit === "m" ? MILLI : [factorOf(lower, "units.parse"), 1n];
    return quantity([amount[0] * factor[0], amount[1] * factor[1]]);
  },
  "units.parse_bytes": (value) => {
    const [amount, written] = parts(lowerCase(writtenOf(value, "units.parse_bytes")), "units.parse_bytes");
    const unit = written.length > 1 ? written.replace(/b$/, "") : written;
    const rounded = roundToFloat(amount);
    const bytes = roundToFloat([rounded[0] * factorOf(unit, "units.parse_bytes"), rounded[1]]);
    return integer(bytes[0] / bytes[1]);
  },
};

/** Lower case as in Go: the capital I with a dot becomes an i. */
const lowerCase = (text: string): string => text.replaceAll("\u0130", "i").toLowerCase();

function factorOf(unit: string, builtin: string): bigint {
  if (unit === "") return 1n;
  const factor = Object.hasOwn(POWERS, unit) ? POWERS[unit] : undefined;
  if (factor === undefined) throw new Error(`${builtin}: unit ${unit} not recognized`);
  return factor;
}

/** Amount and unit; an `e` begins an exponent only when a digit or a sign follows. */
function parts(value: string, builtin: string): [Fraction, string] {
  const text = value.replaceAll('"', "");
  const [, amount = "", unit = ""] = /^((?:[\d.+-]|[eE](?=[\d+-]))*)(.*)$/s.exec(text) ?? [];
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(amount) ?? [];
  if (
    text.includes(" ") ||
    whole + fraction === "" ||
    !EXPONENT.test(exponent) ||
    Math.abs(Number(exponent)) > LARGEST_EXPONENT
  )
    throw new Error(`${builtin}: could not parse ${JSON.stringify(text)}`);
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - fraction.length;
  return [power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n], unit];
}

/** The amount: whole, or with ten digits behind the point, halves away from zero. */
function quantity([numerator, denominator]: Fraction): unknown {
  if (numerator % denominator === 0n) return integer(numerator / denominator);
  const magnitude = numerator < 0n ? -numerator : numerator;
  const scaled = (magnitude * 10n ** DECIMALS * 2n + denominator) / (denominator * 2n);
  const digits = scaled.toString().padStart(Number(DECIMALS) + 1, "0");
  const point = digits.length - Number(DECIMALS);
  return new WrittenNumber(`${numerator < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`);
}

/** The nearest float of 64 bits; an exact half goes to the even one. */
function roundToFloat([numerator, denominator]: Fraction): Fraction {
  if (numerator === 0n) return [0n, 1n];
  const magnitude = numerator < 0n ? -numerator : numerator;
  // The estimate may be off by one bit: the quotient's own length decides.
  let shift = FLOAT_BITS - (magnitude.toString(2).length - denominator.toString(2).length);
  if (shifted(magnitude, shift) / shifted(denominator, -shift) >= 2n ** BigInt(FLOAT_BITS)) shift--;
  const [top, bottom] = [shifted(magnitude, shift), shifted(denominator, -shift)];
  let mantissa = top / bottom;
  const rest = (top % bottom) * 2n;
  if (rest > bottom || (rest === bottom && mantissa % 2n === 1n)) mantissa++;
  const signed = numerator < 0n ? -mantissa : mantissa;
  return [shifted(signed, -shift), shifted(1n, shift)];
}

/** Shifts to the left; unchanged by a negative number of bits. */
function shifted(value: bigint, bits: number): bigint {
  return bits > 0 ? value << BigInt(bits) : value;
}
