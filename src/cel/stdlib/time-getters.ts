/** The getters of timestamps and durations (spec kubernetes-cel.md 3.4). */
import type { FunctionDeclaration, Library, Overload } from "../declarations.js";
import { fn, method } from "../declare.js";
import { DURATION, INT, STRING, TIMESTAMP } from "../types.js";

/** A getter on timestamps, with and without a time zone, and on durations where it exists. */
function getter(name: string, id: string, zonedId: string, durationId?: string): FunctionDeclaration {
  const overloads: Overload[] = [method(id, [TIMESTAMP], INT), method(zonedId, [TIMESTAMP, STRING], INT)];
  if (durationId !== undefined) overloads.push(method(durationId, [DURATION], INT));
  return fn(name, ...overloads);
}

/** `getFullYear` and its siblings. */
export const timeGetterLibrary: Library = {
  name: "time-getters",
  functions: [
    getter("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz"),
    getter("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz"),
    getter("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz"),
    getter("getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz"),
    getter("getDate", "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz"),
    getter("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz"),
    getter("getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz", "duration_to_hours"),
    getter("getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz", "duration_to_minutes"),
    getter("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", "duration_to_seconds"),
    getter(
      "getMilliseconds",
      "timestamp_to_milliseconds",
      "timestamp_to_milliseconds_with_tz",
      "duration_to_milliseconds",
    ),
  ],
};
