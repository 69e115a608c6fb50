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

  function getter(
    name: string,
    id: string,
    zonedId: string,
    part: Part,
    onDuration?: { readonly id: string; readonly part: DurationPart },
  ): FunctionDeclaration {
    const inUtc = ({ seconds, nanos }: Timestamp): Result => part(seconds, nanos);
    const inZone = ({ seconds, nanos }: Timestamp, zoneText: string): Result => {
      const zone = zones.zone(zoneText);
      return zone instanceof CelError ? zone : part(seconds + zone(seconds), nanos);
    };
    const overloads: Overload[] = [
      method(id, [TIMESTAMP], INT, inUtc),
      method(zonedId, [TIMESTAMP, STRING], INT, inZone),
    ];
    if (onDuration !== undefined) overloads.push(method(onDuration.id, [DURATION], INT, onDuration.part));
    return fn(name, ...overloads);
  }

  return {
    name: "time-getters",
    functions: [
      getter("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz", (local) => dateOf(local).year),
      getter("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz", (local) => dateOf(local).month - 1),
      getter("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", (local) =>
        dayOfYear(dateOf(local)),
      ),
      getter(
        "getDayOfMonth",
        "timestamp_to_day_of_month",
        "timestamp_to_day_of_month_with_tz",
        (local) => dateOf(local).day - 1,
      ),
      getter(
        "getDate",
        "timestamp_to_day_of_month_1_based",
        "timestamp_to_day_of_month_1_based_with_tz",
        (local) => dateOf(local).day,
      ),
      getter("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", (local) =>
        dayOfWeek(daysOf(local)),
      ),
      getter(
        "getHours",
        "timestamp_to_hours",
        "timestamp_to_hours_with_tz",
        (local) => Math.floor(secondOfDay(local) / 3600),
        { id: "duration_to_hours", part: (duration) => inUnits(duration, 3_600_000_000_000n) },
      ),
      getter(
        "getMinutes",
        "timestamp_to_minutes",
        "timestamp_to_minutes_with_tz",
        (local) => Math.floor(secondOfDay(local) / 60) % 60,
        { id: "duration_to_minutes", part: (duration) => inUnits(duration, 60_000_000_000n) },
      ),
      getter("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", (local) => secondOfDay(local) % 60, {
        id: "duration_to_seconds",
        part: (duration) => Math.trunc(durationSeconds(duration)) + 0,
      }),
      getter(
        "getMilliseconds",
        "timestamp_to_milliseconds",
        "timestamp_to_milliseconds_with_tz",
        (_, nanos) => Math.floor(nanos / 1_000_000),
        { id: "duration_to_milliseconds", part: ({ nanos }) => makeInt(BigInt(nanos) / 1_000_000n) },
      ),
    ],
  };
}
