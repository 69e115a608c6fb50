/** Doubles in decimal, rounded half to even on their exact binary value, as C and Go print them. `toFixed` rounds ties away from zero. */

/** Bits of a double's fraction, and the exponent of the last one of a number whose exponent field is 0 or 1. */
const FRACTION_BITS = 52n;
const LAST_BIT_EXPONENT = -1074;

/** A finite double's magnitude as mantissa × 2^exponent. */
function binaryParts(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const raw = bits.getBigUint64(0);
  const field = Number(raw >> FRACTION_BITS);
  const fraction = raw & ((1n << FRACTION_BITS) - 1n);
  if (field === 0) return { mantissa: fraction, exponent: LAST_BIT_EXPONENT };
  return { mantissa: fraction | (1n << FRACTION_BITS), exponent: field - 1 + LAST_BIT_EXPONENT };
}

/** |value| × 10^power as an integer, ties to even. */
function scaledToInteger(value: number, power: number): bigint {
  const { mantissa, exponent } = binaryParts(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  const quotient = numerator / denominator;
  const twiceRest = (numerator % denominator) * 2n;
  const up = twiceRest > denominator || (twiceRest === denominator && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

/** The digits before and after the point, `fractionDigits` of them; without sign. The value is finite. */
export function fixedDigits(value: number, fractionDigits: number): readonly [string, string] {
  const digits = scaledToInteger(value, fractionDigits)
    .toString()
    .padStart(fractionDigits + 1, "0");
  const point = digits.length - fractionDigits;
  return [digits.slice(0, point), digits.slice(point)];
}

/** The one digit before the point, the `fractionDigits` behind it, and the decimal exponent; without sign. The value is finite. */
export function scientificDigits(value: number, fractionDigits: number): readonly [string, string, number] {
  if (value === 0) return ["0", "0".repeat(fractionDigits), 0];
  let exponent = Number(Math.abs(value).toExponential().split("e")[1]);
  let digits = scaledToInteger(value, fractionDigits - exponent).toString();
  if (digits.length <= fractionDigits) {
    exponent -= 1; // the shortest digits were rounded up to a power of ten that the value does not reach
    digits = scaledToInteger(value, fractionDigits - exponent).toString();
  }
  if (digits.length > fractionDigits + 1) {
    exponent += 1;
    digits = digits.slice(0, -1); // rounded up to a power of ten: the digit that goes is a zero
  }
  return [digits.slice(0, 1), digits.slice(1), exponent];
}
