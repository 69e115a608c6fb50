/**
 * Durations as text (spec kubernetes-cel.md 3.2): parsed as Go does, with the double arithmetic of its fractions, and printed as seconds.
 */
import { fixedText } from "./double-text.js";
import { INT_MAX, makeInt } from "./numbers.js";
import { Duration } from "./time.js";

/** Nanoseconds in each unit. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

/** The magnitude that no part and no sum may exceed: 2^63. Only a negative duration may reach it. */
const LIMIT = 2n ** 63n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** One number with its unit. */
const PART = /([0-9]*)(?:\.([0-9]*))?([^.0-9]+)/y;

/** `duration(string)`: `1h30m`, `-1.5s`, `0`; `undefined` when it is malformed or outside int64 nanoseconds. */
export function parseDuration(text: string): Duration | undefined {
  const signed = text.startsWith("-") || text.startsWith("+");
  const negative = text.startsWith("-");
  const body = signed ? text.slice(1) : text;
  if (body === "0") return new Duration(0);
  if (body === "") return undefined;
  let total = 0n;
  // Whole hours, minutes and seconds, which most parts are: a million of them are a million times one hour.
  const simple = { h: 0, m: 0, s: 0 };
  const part = new RegExp(PART);
  while (part.lastIndex < body.length) {
    const behind = addSimple(body, part.lastIndex, simple);
    if (behind !== undefined) {
      part.lastIndex = behind;
      continue;
    }
    const match = part.exec(body);
    if (match === null) return undefined;
    const nanos = partNanos(match[1] as string, match[2] ?? "", match[3] as string);
    if (nanos === undefined) return undefined;
    total += nanos;
    if (total > LIMIT) return undefined;
  }
  for (const unit of ["h", "m", "s"] as const) total += BigInt(simple[unit]) * (UNITS.get(unit) as bigint);
  if (total > LIMIT) return undefined;
  if (negative) return new Duration(makeInt(-total));
  return total > INT_MAX ? undefined : new Duration(makeInt(total));
}

/** Digits of a simple part: a text of any length has too few such parts for their sum to be inexact. */
const SIMPLE_DIGITS = 8;

/**
 * Adds a part such as `30m`, of few digits and a unit of one letter, and returns where the next one begins.
 * @returns undefined when the text does not go on with such a part
 */
function addSimple(text: string, from: number, sums: Record<"h" | "m" | "s", number>): number | undefined {
  let value = 0;
  let at = from;
  for (; at - from <= SIMPLE_DIGITS; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  const unit = text[at];
  if (at === from || at - from > SIMPLE_DIGITS || (unit !== "h" && unit !== "m" && unit !== "s")) return undefined;
  const next = text.charCodeAt(at + 1) - 0x30;
  if (at + 1 < text.length && !(next >= 0 && next <= 9)) return undefined;
  sums[unit] += value;
  return at + 1;
}

function partNanos(whole: string, fraction: string, unitName: string): bigint | undefined {
  const unit = UNITS.get(unitName);
  if (unit === undefined || (whole === "" && fraction === "")) return undefined;
  const digits = whole.replace(/^0+/, "");
  if (digits.length > 19) return undefined; // beyond 2^63 whatever the unit
  const value = BigInt(digits) * unit;
  if (value > LIMIT) return undefined;
  const nanos = value + fractionNanos(fraction, unit);
  return nanos > LIMIT ? undefined : nanos;
}

/** Digits of a fraction that fit an int64; Go ignores those behind. */
const GREATEST_BEFORE_NEXT_DIGIT = INT_MAX / 10n;

/** trunc(f × (unit / 10^digits)) in double arithmetic, with f the fraction's digits as an integer. */
function fractionNanos(fraction: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of fraction) {
    if (value > GREATEST_BEFORE_NEXT_DIGIT) break;
    const next = value * 10n + BigInt(digit);
    if (next > LIMIT) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/** A duration in seconds, as a double: `float64(seconds) + float64(rest) / 1e9`. */
export function durationSeconds(duration: Duration): number {
  const nanos = BigInt(duration.nanos);
  return Number(nanos / NANOS_PER_SECOND) + Number(nanos % NANOS_PER_SECOND) / 1e9;
}

/** `string(duration)`: the seconds in fixed notation and `s`. Large values lose nanoseconds, as in the reference. */
export const durationText = (duration: Duration): string => `${fixedText(durationSeconds(duration))}s`;

/** Fractions of a second: the greatest unit that is not above the value is taken. */
const FRACTION_UNITS: readonly (readonly [string, bigint, number])[] = [
  ["ns", 1_000n, 0],
  ["µs", 1_000_000n, 3],
  ["ms", 1_000_000_000n, 6],
];

const NANOS_PER_MINUTE = 60n * NANOS_PER_SECOND;
const MINUTES_PER_HOUR = 60n;

/** A duration in hours, minutes and seconds, as tools and some error texts print it: `1h30m0s`, `1.5s`, `100ms`. */
export function durationInUnits(duration: Duration): string {
  const nanos = BigInt(duration.nanos);
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  for (const [unit, below, digits] of FRACTION_UNITS) {
    if (magnitude < below) return `${sign}${decimal(magnitude, digits)}${unit}`;
  }
  const minutes = magnitude / NANOS_PER_MINUTE;
  const hours = minutes / MINUTES_PER_HOUR;
  const before = `${hours > 0n ? `${hours}h` : ""}${minutes > 0n ? `${minutes % MINUTES_PER_HOUR}m` : ""}`;
  return `${sign}${before}${decimal(magnitude % NANOS_PER_MINUTE, 9)}s`;
}

/** An integer with its last digits behind a point, without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, "0");
  const point = text.length - digits;
  const fraction = text.slice(point).replace(/0+$/, "");
  return fraction === "" ? text.slice(0, point) : `${text.slice(0, point)}.${fraction}`;
}
