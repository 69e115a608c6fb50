/** Times in Go's RFC 3339 layout: a comma may stand for the point of seconds, and an hour may have one digit. */
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,]\d+)?(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Whether a text is a valid time: no 30th of February, and no leap second. */
export function isRfc3339(text: string): boolean {
  const match = RFC_3339.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  return hour < 24 && minute < 60 && second < 60 && zoneHour < 24 && zoneMinute < 60;
}

/** The number of days in a month: the day before the first of the next one. Years below 100 would be read as those of the last century. */
function daysIn(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

/** A valid time in milliseconds since 1970; undefined for another text. */
export function rfc3339Time(text: string): number | undefined {
  if (!isRfc3339(text)) return undefined;
  // JavaScript reads fewer forms than Go.
  return Date.parse(text.replace(",", ".").replace(/T(\d):/, "T0$1:"));
}
