/** `time.*`, also under the two names that the reference host registers without their prefix. */

import { floatText } from "../../../../data/float-text.js";
import { parseGoDuration } from "../../../../data/go/duration.js";
import { WrittenNumber } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { integer, integerOf, listOf, textOf, writtenOf } from "./operands.js";

/** Hours in each unit that OPA has beside Go's. */
const HOURS: Readonly<Record<string, number>> = { d: 24, w: 7 * 24, y: 365 * 24 };
const EXTENDED = /[dwy]/;
const SEGMENTS = /^([+-]?)((?:[0-9.]+(?:ms|us|\u00b5s|ns|[a-z]))+)$/;
const SEGMENT = /([0-9.]+)(ms|us|\u00b5s|ns|[a-z])/g;
/** A number before a unit. */
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)$/;

/**
 * A duration such as `1h30m`, `-1.5s`, `1w2d` in nanoseconds; a day has 24 hours, a week 7 days, a year 365.
 * @throws when it is invalid, or too long
 */
function parseDuration(text: string): bigint {
  const plain = EXTENDED.test(text) ? inHours(text) : text;
  const parsed = plain === undefined ? undefined : parseGoDuration(plain);
  if (parsed?.ok) return parsed.nanos;
  throw new Error(`time.parse_duration_ns: invalid duration ${JSON.stringify(text)}`);
}

/** The text with hours in place of days, weeks and years. */
function inHours(text: string): string | undefined {
  const [, sign = "", segments] = SEGMENTS.exec(text) ?? [];
  if (segments === undefined) return undefined;
  let plain = sign;
  for (const [segment, digits = "", unit = ""] of segments.matchAll(SEGMENT)) {
    const hours = Object.hasOwn(HOURS, unit) ? HOURS[unit] : undefined;
    if (hours === undefined) {
      plain += segment;
      continue;
    }
    const value = DECIMAL.test(digits) ? Number(digits) * hours : Number.NaN;
    if (!Number.isFinite(value)) return undefined;
    plain += `${floatText(value, "f", undefined).replace(/^\+/, "")}h`;
  }
  return plain;
}

const NANOS_PER_MILLI = 1_000_000n;
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** @param now milliseconds since 1970 */
export function timeBuiltins(now: () => number): Readonly<Record<string, Builtin>> {
  const parse: Builtin = (text) => integer(parseRfc3339(writtenOf(text, "time.parse_rfc3339_ns")));
  const date: Builtin = (moment) => {
    const fields = fieldsOf(moment, "time.date");
    return [fields.year, fields.month, fields.day];
  };
  return {
    "time.now_ns": () => integer(BigInt(Math.round(now())) * NANOS_PER_MILLI),
    "time.parse_rfc3339_ns": parse,
    parse_rfc3339_ns: parse,
    "time.date": date,
    date,
    "time.clock": (moment) => {
      const fields = fieldsOf(moment, "time.clock");
      return [fields.hour, fields.minute, fields.second];
    },
    "time.weekday": (moment) => {
      const { year, month, day } = fieldsOf(moment, "time.weekday");
      return DAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()];
    },
    "time.parse_duration_ns": (text) => integer(parseDuration(writtenOf(text, "time.parse_duration_ns"))),
  };
}

function parseRfc3339(text: string): bigint {
  const match = RFC3339.exec(text);
  if (!match) throw new Error(`time.parse_rfc3339_ns: cannot parse ${JSON.stringify(text)}`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const [zoneHours, zoneMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  const real = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  // Zones are as in Go: 24 hours and 60 minutes are valid.
  if (!real || hour > 23 || minute > 59 || second > 59 || zoneHours > 24 || zoneMinutes > 60)
    throw new Error(`time.parse_rfc3339_ns: ${JSON.stringify(text)} is out of range`);
  const offset = (zoneHours * 60 + zoneMinutes) * (match[8] === "-" ? -1 : 1);
  const millis = BigInt(Date.UTC(year, month - 1, day, hour, minute - offset, second));
  const nanos = millis * NANOS_PER_MILLI + BigInt((match[7] ?? "").slice(0, 9).padEnd(9, "0"));
  if (BigInt.asIntN(64, nanos) !== nanos || year < 100)
    throw new Error("time.parse_rfc3339_ns: outside of valid range");
  return nanos;
}

/** @param month from 1 */
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Of nanoseconds in UTC, or of `[nanoseconds, zone, layout]`, of which only the first is required. */
function fieldsOf(moment: unknown, builtin: string): Fields {
  const [at, zone = "UTC", layout = ""] = Array.isArray(moment) ? listOf(moment, builtin) : [moment];
  textOf(layout, builtin);
  const nanos = timestampOf(at, builtin);
  // Rounded down, also before 1970.
  const millis = (nanos - (((nanos % NANOS_PER_MILLI) + NANOS_PER_MILLI) % NANOS_PER_MILLI)) / NANOS_PER_MILLI;
  const parts = formatter(zone === "" ? "UTC" : writtenOf(zone, builtin), builtin).formatToParts(
    new Date(Number(millis)),
  );
  const field = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  return {
    year: field("year"),
    month: field("month"),
    day: field("day"),
    hour: field("hour"),
    minute: field("minute"),
    second: field("second"),
  };
}

/** A number with an exponent: its digits, those behind the point, and the power of ten. */
const WITH_EXPONENT = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Most digits of a number of 64 bits. */
const MOST_DIGITS = 19;

/** A timestamp. Unlike other integers it may be written with a fraction or an exponent. */
function timestampOf(value: unknown, builtin: string): bigint {
  return integerOf(value instanceof WrittenNumber ? (wholeOf(value.text) ?? value) : value, builtin);
}

/** Parses a text with a fraction or an exponent as a whole number; `undefined` where it is not one, or beyond 64 bits. */
function wholeOf(text: string): bigint | undefined {
  const [, whole = "", fraction = "", exponent = "0"] = WITH_EXPONENT.exec(text) ?? [];
  const digits = (whole + fraction).replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + whole.length + fraction.length - digits.length;
  if (/^-?$/.test(digits)) return 0n;
  if (power < 0 || digits.length + power > MOST_DIGITS + 1) return undefined;
  return BigInt(digits) * 10n ** BigInt(power);
}

/** Names of zones are case-sensitive, which `Intl` ignores. */
const ZONE = /^[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*$/;

function formatter(timeZone: string, builtin: string): Intl.DateTimeFormat {
  if (!ZONE.test(timeZone)) throw new Error(`${builtin}: unknown time zone ${timeZone}`);
  try {
    return new Intl.DateTimeFormat("en-u-ca-iso8601-nu-latn", {
      timeZone: timeZone === "Local" ? "UTC" : timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (error) {
    throw new Error(`${builtin}: unknown time zone ${timeZone}`, { cause: error });
  }
}
