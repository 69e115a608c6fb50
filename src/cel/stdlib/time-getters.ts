/** The getters of timestamps and durations (spec kubernetes-cel.md 3.4). */
import type { FunctionDeclaration, Library, Overload } from "../declarations.js";
import { fn, method } from "../declare.js";
import { DURATION, INT, STRING, TIMESTAMP } from "../types.js";
import { civilFromDays, dayOfWeek, dayOfYear } from "../values/calendar.js";
import { CelError } from "../values/cel-error.js";
import { durationSeconds } from "../values/duration-text.js";
import { makeInt } from "../values/numbers.js";
import type { Duration, Timestamp } from "../values/time.js";
import { TimeZones } from "../values/time-zones.js";
import type { Result } from "../values/value.js";

const SECONDS_PER_DAY = 86_400;

/** A part of an instant, from its seconds in local time and its nanoseconds. */
type Part = (localSeconds: number, nanos: number) => number;
/** A part of a duration. */
type DurationPart = (duration: Duration) => number | bigint;

const daysOf = (localSeconds: number): number => Math.floor(localSeconds / SECONDS_PER_DAY);
const dateOf = (localSeconds: number) => civilFromDays(daysOf(localSeconds));
const secondOfDay = (localSeconds: number): number => localSeconds - daysOf(localSeconds) * SECONDS_PER_DAY;

/** A whole number of hours (or minutes) and the rest as a fraction of one, added as doubles: the sum may round up, as in the reference. */
function inUnits(duration: Duration, unitNanos: bigint): number {
  const nanos = BigInt(duration.nanos);
  return Math.trunc(Number(nanos / unitNanos) + Number(nanos % unitNanos) / Number(unitNanos)) + 0;
}

/** `getFullYear` and its siblings, with a set of time zones of their own. */
export function timeGetterLibrary(): Library {
  const zones = new TimeZones();

  function getter(name: string, unit: string, part: Part, durationPart?: DurationPart): FunctionDeclaration {
    const id = `timestamp_to_${unit}`;
    const inUtc = ({ seconds, nanos }: Timestamp): Result => part(seconds, nanos);
    const inZone = ({ seconds, nanos }: Timestamp, zoneText: string): Result => {
      const zone = zones.zone(zoneText);
      return zone instanceof CelError ? zone : part(seconds + zone(seconds), nanos);
    };
    const overloads: Overload[] = [
      method(id, [TIMESTAMP], INT, inUtc),
      method(unit === "seconds" ? `${id}_tz` : `${id}_with_tz`, [TIMESTAMP, STRING], INT, inZone),
    ];
    if (durationPart !== undefined) overloads.push(method(`duration_to_${unit}`, [DURATION], INT, durationPart));
    return fn(name, ...overloads);
  }

  return {
    name: "time-getters",
    functions: [
      getter("getFullYear", "year", (local) => dateOf(local).year),
      getter("getMonth", "month", (local) => dateOf(local).month - 1),
      getter("getDayOfYear", "day_of_year", (local) => dayOfYear(dateOf(local))),
      getter("getDayOfMonth", "day_of_month", (local) => dateOf(local).day - 1),
      getter("getDate", "day_of_month_1_based", (local) => dateOf(local).day),
      getter("getDayOfWeek", "day_of_week", (local) => dayOfWeek(daysOf(local))),
      getter(
        "getHours",
        "hours",
        (local) => Math.floor(secondOfDay(local) / 3600),
        (duration) => inUnits(duration, 3_600_000_000_000n),
      ),
      getter(
        "getMinutes",
        "minutes",
        (local) => Math.floor(secondOfDay(local) / 60) % 60,
        (duration) => inUnits(duration, 60_000_000_000n),
      ),
      getter(
        "getSeconds",
        "seconds",
        (local) => secondOfDay(local) % 60,
        (duration) => Math.trunc(durationSeconds(duration)) + 0,
      ),
      getter(
        "getMilliseconds",
        "milliseconds",
        (_, nanos) => Math.floor(nanos / 1_000_000),
        ({ nanos }) => makeInt(BigInt(nanos) / 1_000_000n),
      ),
    ],
  };
}
