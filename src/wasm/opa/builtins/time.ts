/** `time.*`, also under the two names that the reference host registers without their prefix. */
import type { Builtin } from "./index.js";
import { integer, integerOf, listOf, textOf } from "./operands.js";

const NANOS_PER_MILLI = 1_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?([Zz]|[+-]\d{2}:\d{2})$/;
/** Nanoseconds per unit of a Go duration. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** @param now milliseconds since 1970 */
export function timeBuiltins(now: () => number): Readonly<Record<string, Builtin>> {
  let stopped: bigint | undefined;
  const parse: Builtin = (text) => integer(parseRfc3339(textOf(text, "time.parse_rfc3339_ns")));
  const date: Builtin = (moment) => {
    const fields = fieldsOf(moment, "time.date");
    return [fields.year, fields.month, fields.day];
  };
  return {
    "time.now_ns": () => {
      stopped ??= BigInt(Math.round(now())) * NANOS_PER_MILLI;
      return integer(stopped);
    },
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
    "time.parse_duration_ns": (text) => integer(parseDuration(textOf(text, "time.parse_duration_ns"))),
  };
}

function parseRfc3339(text: string): bigint {
  const match = RFC3339.exec(text);
  const seconds = match ? Date.parse(`${text.slice(0, 19).toUpperCase()}${match[8]?.toUpperCase()}`) : Number.NaN;
  if (!match || Number.isNaN(seconds) || Number(match[3]) > daysIn(Number(match[1]), Number(match[2])))
    throw new Error(`time.parse_rfc3339_ns: cannot parse ${JSON.stringify(text)}`);
  const fraction = BigInt((match[7] ?? "").slice(0, 9).padEnd(9, "0"));
  return BigInt(seconds) * NANOS_PER_MILLI + fraction;
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

/** Of nanoseconds in UTC, or of `[nanoseconds, zone]`. */
function fieldsOf(moment: unknown, builtin: string): Fields {
  const [at, zone] = Array.isArray(moment) ? listOf(moment, builtin) : [moment, "UTC"];
  const nanos = integerOf(at, builtin);
  // Rounded down, also before 1970.
  const millis = (nanos - (((nanos % NANOS_PER_MILLI) + NANOS_PER_MILLI) % NANOS_PER_MILLI)) / NANOS_PER_MILLI;
  const parts = formatter(zone === "" ? "UTC" : textOf(zone, builtin), builtin).formatToParts(new Date(Number(millis)));
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

function formatter(timeZone: string, builtin: string): Intl.DateTimeFormat {
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

/** A Go duration such as `1h30m` or `-1.5s`. */
function parseDuration(text: string): bigint {
  const match = /^([+-]?)((?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.exec(text);
  if (!match && !/^[+-]?0$/.test(text))
    throw new Error(`time.parse_duration_ns: invalid duration ${JSON.stringify(text)}`);
  let total = 0n;
  for (const [, amount = "0", unit = "ns"] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = "0", fraction = ""] = amount.split(".");
    const per = BigInt(UNITS[unit] ?? 0);
    total += BigInt(whole || "0") * per;
    if (fraction) total += (BigInt(fraction) * per) / 10n ** BigInt(fraction.length);
  }
  if (total > 9_223_372_036n * NANOS_PER_SECOND) throw new Error(`time.parse_duration_ns: ${text} is too long`);
  return text.startsWith("-") ? -total : total;
}
