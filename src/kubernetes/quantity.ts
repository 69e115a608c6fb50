/**
 * Quantities in their canonical form, in which the API server stores and shows them: `1000m` is `1`, `1.5Gi` is `1536Mi`.
 */

const SYNTAX = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]{1,3})?$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Decimal suffixes by exponent, largest first. */
const DECIMAL: readonly (readonly [number, string])[] = [
  [18, "E"],
  [15, "P"],
  [12, "T"],
  [9, "G"],
  [6, "M"],
  [3, "k"],
  [0, ""],
  [-3, "m"],
  [-6, "u"],
  [-9, "n"],
];
/** Amounts are counted in units of 10^-9, the finest that Kubernetes keeps; what is finer is rounded up. */
const NANO = 9;
/** What a quantity with a binary suffix is cut to. */
const BINARY_MAX = ((1n << 63n) - 1n) * 10n ** BigInt(NANO);

/** The canonical form of a quantity, or the text itself when it is none. */
export function canonicalQuantity(text: string): string {
  const match = SYNTAX.exec(text);
  const digits = `${match?.[2] ?? ""}${match?.[3] ?? ""}`;
  if (match === null || digits === "") return text;
  const [, sign, , fraction = "", suffix = ""] = match;
  const binary = BINARY.indexOf(suffix);
  const exponential = /^[eE][+-]?[0-9]/.test(suffix);
  const exponent = exponential ? Number(suffix.slice(1)) : (DECIMAL.find((entry) => entry[1] === suffix)?.[0] ?? 0);
  let nanos = scaled(BigInt(digits) * 1024n ** BigInt(Math.max(binary, 0)), exponent - fraction.length + NANO);
  if (binary > 0 && nanos > BINARY_MAX) nanos = BINARY_MAX;
  if (sign === "-") nanos = -nanos;
  if (nanos === 0n) return "0";
  return binary > 0 ? formatBinary(nanos) : formatDecimal(nanos, exponential);
}

function scaled(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

function formatBinary(nanos: bigint): string {
  const unit = 10n ** BigInt(NANO);
  const magnitude = nanos < 0n ? -nanos : nanos;
  // Fractions, and amounts below one binary step, print in decimal.
  if (magnitude % unit !== 0n || magnitude < 1024n * unit) return formatDecimal(nanos, false);
  let value = nanos / unit;
  let step = 0;
  while (value % 1024n === 0n && step < BINARY.length - 1) {
    value /= 1024n;
    step++;
  }
  return `${value}${BINARY[step]}`;
}

function formatDecimal(nanos: bigint, exponential: boolean): string {
  for (const [exponent, suffix] of DECIMAL) {
    const unit = 10n ** BigInt(exponent + NANO);
    if (nanos % unit !== 0n) continue;
    const value = nanos / unit;
    if (!exponential) return `${value}${suffix}`;
    return exponent === 0 ? String(value) : `${value}e${exponent}`;
  }
  return String(nanos);
}
