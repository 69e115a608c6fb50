/**
 * Quantities in their canonical form, in which the API server stores and shows them: `1000m` is `1`, `1.5Gi` is `1536Mi`.
 */

/** The parts of a quantity. Exponents of more digits wrap around in the server; they are not in use, and stay as they are. */
const SYNTAX = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]{1,9})?$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Decimal suffixes by exponent. */
const DECIMAL: ReadonlyMap<number, string> = new Map([
  [-9, "n"],
  [-6, "u"],
  [-3, "m"],
  [0, ""],
  [3, "k"],
  [6, "M"],
  [9, "G"],
  [12, "T"],
  [15, "P"],
  [18, "E"],
]);
/** The finest exponent that Kubernetes keeps; finer amounts are rounded up. */
const NANO = -9;
/** The greatest amount with a binary suffix; larger ones are cut to it. */
const BINARY_MAX = (1n << 63n) - 1n;

/** Whole units of a power of ten, which may be far too large to be written out. */
interface Amount {
  readonly units: bigint;
  readonly exponent: number;
}

/** The canonical form of a quantity, or the text itself when it is not one. */
export function canonicalQuantity(text: string): string {
  const match = SYNTAX.exec(text);
  const digits = `${match?.[2] ?? ""}${match?.[3] ?? ""}`;
  if (match === null || digits === "") return text;
  const [, sign = "", , fraction = "", suffix = ""] = match;
  const binary = BINARY.indexOf(suffix);
  const exponential = /^[eE][+-]?[0-9]/.test(suffix);
  const exponent = exponential ? Number(suffix.slice(1)) : exponentOf(suffix);
  const units = BigInt(digits) * 1024n ** BigInt(Math.max(binary, 0));
  if (units === 0n) return "0";
  const amount = rounded({ units, exponent: exponent - fraction.length });
  const canonical = binary > 0 ? formatBinary(amount) : formatDecimal(amount, exponential);
  return sign === "-" ? `-${canonical}` : canonical;
}

function exponentOf(suffix: string): number {
  for (const [exponent, own] of DECIMAL) if (own === suffix) return exponent;
  return 0;
}

function rounded({ units, exponent }: Amount): Amount {
  const places = NANO - exponent;
  if (places <= 0) return { units, exponent };
  // However small it is, it is not zero.
  if (places > String(units).length) return { units: 1n, exponent: NANO };
  const divisor = 10n ** BigInt(places);
  return { units: (units + divisor - 1n) / divisor, exponent: NANO };
}

/** The text with a binary suffix, which has no exponent beside it, only a fraction. */
function formatBinary(amount: Amount): string {
  const unit = 10n ** BigInt(-amount.exponent);
  const whole = amount.units / unit;
  if (whole >= BINARY_MAX) return String(BINARY_MAX);
  // Fractions, and amounts below one binary step, print in decimal.
  if (amount.units % unit !== 0n || whole < 1024n) return formatDecimal(amount, false);
  let value = whole;
  let step = 0;
  while (value % 1024n === 0n && step < BINARY.length - 1) {
    value /= 1024n;
    step++;
  }
  return `${value}${BINARY[step]}`;
}

/** The text in decimal. The exponent is a multiple of three. One that has no suffix is dropped, as the server does. */
function formatDecimal({ units, exponent }: Amount, exponential: boolean): string {
  const written = String(units);
  let end = written.length;
  while (written[end - 1] === "0") end--;
  const whole = exponent + written.length - end;
  const over = ((whole % 3) + 3) % 3;
  const value = `${written.slice(0, end)}${"0".repeat(over)}`;
  if (!exponential) return `${value}${DECIMAL.get(whole - over) ?? ""}`;
  return whole === over ? value : `${value}e${whole - over}`;
}
