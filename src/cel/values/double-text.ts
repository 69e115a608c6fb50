/**
 * Doubles as text, by Go's rules (spec kubernetes-cel.md 3.2): for `string(double)` and `double(string)`.
 */

/** The shortest decimal digits that read back as the same double, and the place of the point: 0.DIGITS × 10^point. */
interface Digits {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

/** The shortest digits of a finite double. Zero has the digit "0" and the point after it. */
function shortestDigits(value: number): Digits {
  const negative = value < 0 || Object.is(value, -0);
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e") as [string, string];
  return { negative, digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
}

/** The text of NaN and the infinities, `undefined` for the others. */
function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "+Inf" : "-Inf";
}

/** The exponents from which on, and below which, a double is written in exponent form. */
const EXPONENT_FORM_FROM = 6;
const EXPONENT_FORM_BELOW = -4;

/** `string(double)`: shortest digits; exponent form when the decimal exponent is below -4 or at least 6 (`1e+06`, `0.0001`). */
export function doubleText(value: number): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  const { negative, digits, point } = shortestDigits(value);
  const exponent = point - 1;
  if (exponent >= EXPONENT_FORM_BELOW && exponent < EXPONENT_FORM_FROM) return fixedText(value);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const sign = exponent < 0 ? "-" : "+";
  return `${negative ? "-" : ""}${digits[0]}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** A double in fixed notation with its shortest digits: `360000000`, `0.000001`. */
export function fixedText(value: number): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  const { negative, digits, point } = shortestDigits(value);
  const sign = negative ? "-" : "";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const DECIMAL = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const HEX = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)$/;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;

/**
 * `double(string)`: decimal or hexadecimal, with underscores between digits, or `nan`, `inf`, `infinity` in any case. `undefined` for
 * any other text and for a number too great for a double; one that is too small is 0.
 */
export function parseDouble(text: string): number | undefined {
  const infinity = INFINITY.exec(text);
  if (infinity !== null) return infinity[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (text.length === 3 && text.toLowerCase() === "nan") return Number.NaN;
  const plain = withoutUnderscores(text);
  if (plain === undefined) return undefined;
  const value = DECIMAL.test(plain) ? Number(plain) : parseHexDouble(plain);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The text without its underscores; `undefined` when one of them does not stand between two digits (or a base prefix and a digit). */
function withoutUnderscores(text: string): string | undefined {
  if (!text.includes("_")) return text;
  const hex = /^[+-]?0[xX]/.test(text);
  const misplaced = hex ? /(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])/ : /(?<![0-9])_|_(?![0-9])/;
  return misplaced.test(text) ? undefined : text.replaceAll("_", "");
}

/** The binary digits of a double's mantissa, its least exponent, and the greatest exponent of its mantissa's last digit. */
const MANTISSA_BITS = 53;
const LEAST_EXPONENT = -1074;
const GREATEST_EXPONENT = 971;

function parseHexDouble(text: string): number | undefined {
  const match = HEX.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponentText = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  let mantissa = BigInt(`0x${whole}${fraction}`);
  let exponent = Number(exponentText) - 4 * fraction.length;
  if (mantissa === 0n) return sign === "-" ? -0 : 0;
  const bits = mantissa.toString(2).length;
  if (bits + exponent > MANTISSA_BITS + GREATEST_EXPONENT) return undefined;
  if (bits + exponent < LEAST_EXPONENT) return sign === "-" ? -0 : 0;
  // Round to the digits a double has there, ties to even.
  const last = Math.max(bits + exponent - MANTISSA_BITS, LEAST_EXPONENT);
  if (last > exponent) {
    const shift = BigInt(last - exponent);
    const half = 1n << (shift - 1n);
    const rest = mantissa & ((1n << shift) - 1n);
    mantissa >>= shift;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
    exponent = last;
  }
  const magnitude = scaled(Number(mantissa), exponent);
  return sign === "-" ? -magnitude : magnitude;
}

/** value × 2^exponent, where 2^exponent alone may be too great; the caller has rounded, so that every step is exact. */
function scaled(value: number, exponent: number): number {
  let result = value;
  let rest = exponent;
  while (rest > GREATEST_EXPONENT) {
    result *= 2;
    rest -= 1;
  }
  return result * 2 ** rest;
}
