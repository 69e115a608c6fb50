/** Go's durations: `time.ParseDuration` with its error texts, and `Duration.String`. Nanoseconds, as a signed number of 64 bits. */

/** A duration in nanoseconds; or the error, in Go's words. */
export type ParsedDuration =
  | { readonly ok: true; readonly nanos: bigint }
  | { readonly ok: false; readonly error: string };

/** Nanoseconds in each unit. Two characters stand for micro. */
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
/** The magnitude that no part and no sum may exceed. Only a negative duration may reach it. */
const LIMIT = 2n ** 63n;
/** Digits of the longest number: a longer one, without leading zeros, is beyond the limit whatever its unit. */
const MAX_DIGITS = 19;
/** Digits of a fraction are counted while their number is not above this; Go ignores those behind. */
const FRACTION_LIMIT = (LIMIT - 1n) / 10n;

/** Parses `1h30m`, `-1.5s`, `0`. */
export function parseGoDuration(text: string): ParsedDuration {
  const failed = (what: string): ParsedDuration => ({ ok: false, error: `time: ${what} ${quoted(text)}` });
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "0") return { ok: true, nanos: 0n };
  if (body === "") return failed("invalid duration");
  let total = 0n;
  const part = /([0-9]*)(?:\.([0-9]*))?([^.0-9]*)/y;
  while (part.lastIndex < body.length) {
    const [, whole = "", fraction = "", name = ""] = part.exec(body) ?? [];
    if (whole === "" && fraction === "") return failed("invalid duration");
    const number = numberOf(whole);
    if (number === undefined) return failed("invalid duration");
    if (name === "") return failed("missing unit in duration");
    const unit = UNITS.get(name);
    if (unit === undefined) return failed(`unknown unit ${quoted(name)} in duration`);
    const nanos = number * unit + fractionNanos(fraction, unit);
    total += nanos;
    if (nanos > LIMIT || total > LIMIT) return failed("invalid duration");
  }
  if (text.startsWith("-")) return { ok: true, nanos: -total };
  return total === LIMIT ? failed("invalid duration") : { ok: true, nanos: total };
}

/** The digits in front of the point; `undefined` where they alone are too many. */
function numberOf(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, "");
  if (significant.length > MAX_DIGITS) return undefined;
  const number = BigInt(significant);
  return number > LIMIT ? undefined : number;
}

/** trunc(f × (unit / 10^digits)) in double arithmetic, with f the fraction's digits as an integer. */
function fractionNanos(fraction: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of fraction) {
    if (value > FRACTION_LIMIT) break;
    const next = value * 10n + BigInt(digit);
    if (next > LIMIT) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/** A text in the time package's own quotes: characters other than plain ASCII are written byte by byte. */
function quoted(text: string): string {
  let inner = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") inner += `\\${character}`;
    else if (code >= 0x20 && code < 0x80) inner += character;
    else for (const byte of Buffer.from(character)) inner += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `"${inner}"`;
}

const NANOS_PER_MINUTE = 60_000_000_000n;
const MINUTES_PER_HOUR = 60n;
/** The units below a second: the greatest unit that is not above the value is used. */
const FRACTION_UNITS: readonly (readonly [string, bigint, number])[] = [
  ["ns", 1_000n, 0],
  ["µs", 1_000_000n, 3],
  ["ms", 1_000_000_000n, 6],
];

/** A duration as Go prints it: `1h30m0s`, `1.5s`, `250ms`, `0s`. @param nanos nanoseconds */
export function goDurationText(nanos: bigint): string {
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
