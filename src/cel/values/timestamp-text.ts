/** Timestamps as text: RFC 3339 with the deviations that Go tolerates (spec kubernetes-cel.md 3.2). */
import { civilFromDays, daysFromCivil, daysInMonth } from "./calendar.js";
import { Timestamp } from "./time.js";

/** The first second of year 1, and the last of year 9999. */
export const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

const SECONDS_PER_DAY = 86_400;

/** An hour may have one digit, a comma may start the fraction, and a fraction may have any number of digits. */
const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/**
 * `timestamp(string)`. An offset may have 24 hours and 60 minutes.
 *
 * @returns `undefined` when it is malformed, `"range"` when it is outside the years 1 to 9999
 */
export function parseTimestamp(text: string): Timestamp | "range" | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [
    ,
    yearText,
    monthText,
    dayText,
    hourText,
    minuteText,
    secondText,
    fraction = "",
    sign,
    offsetHours,
    offsetMinutes,
  ] = match;
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
  const [hour, minute, second] = [Number(hourText), Number(minuteText), Number(secondText)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [zoneHours, zoneMinutes] = [Number(offsetHours ?? 0), Number(offsetMinutes ?? 0)];
  if (zoneHours > 24 || zoneMinutes > 60) return undefined;
  const offset = (sign === "-" ? -1 : 1) * (zoneHours * 3600 + zoneMinutes * 60);
  const seconds = daysFromCivil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset;
  if (!isInRange(seconds)) return "range";
  return new Timestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, "0")), offset === 0 ? 0 : offset);
}

/** Whether a timestamp may have these Unix seconds. */
export const isInRange = (seconds: number): boolean => seconds >= FIRST_SECOND && seconds <= LAST_SECOND;

const pad = (value: number, width: number): string => String(value).padStart(width, "0");

/** `string(timestamp)`: RFC 3339 in its own offset, up to nine fraction digits without trailing zeros. */
export function timestampText({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const local = seconds + offsetSeconds;
  const days = Math.floor(local / SECONDS_PER_DAY);
  const second = local - days * SECONDS_PER_DAY;
  const { year, month, day } = civilFromDays(days);
  const fraction = nanos === 0 ? "" : `.${pad(nanos, 9).replace(/0+$/, "")}`;
  const time = `${pad(Math.floor(second / 3600), 2)}:${pad(Math.floor(second / 60) % 60, 2)}:${pad(second % 60, 2)}`;
  const date = `${year < 0 ? "-" : ""}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${time}${fraction}${offsetText(offsetSeconds)}`;
}

function offsetText(offsetSeconds: number): string {
  const minutes = Math.trunc(offsetSeconds / 60);
  if (offsetSeconds === 0) return "Z";
  const magnitude = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(magnitude / 60), 2)}:${pad(magnitude % 60, 2)}`;
}
