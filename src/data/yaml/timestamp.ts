const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:([Tt ])(.*))?$/;
/** Hours of one digit or two; minutes and seconds too. Fractions begin with a dot or a comma. */
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?$/;
const ZONE = /(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Whether go-yaml takes a text for a point in time, which only matters to scalars with the tag `!!timestamp`: a date, or a date and a time. */
export function isTimestamp(text: string): boolean {
  const [, year = "", month = "", day = "", separator, rest = ""] = DATE.exec(text) ?? [];
  if (year === "" || !isDay(Number(year), Number(month), Number(day))) return false;
  if (separator === undefined) return true;
  if (separator === " ") return isTime(rest);
  const zone = ZONE.exec(rest);
  if (zone === null || Number(zone[1] ?? 0) > 24 || Number(zone[2] ?? 0) > 60) return false;
  return isTime(rest.slice(0, zone.index));
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isTime(text: string): boolean {
  const [, hour, minute, second] = TIME.exec(text) ?? [];
  return hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}
