/** Times of ASN.1: a malformed one makes the whole request malformed, also where it stands for a name. */

/** Year (two digits), month, day, hour, minute, perhaps seconds, zone. */
const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/;
/** Year (four digits) and so on, with seconds, and perhaps parts of a second that do not end with a zero. */
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d{0,8}[1-9])?(Z|[+-]\d{4})$/;

/** Two digits from here on stand for years of the century before. */
const CENTURY_STARTS = 69;

/** Whether Go reads a UTCTime and prints it as the same text. */
export function isUtcTime(text: string): boolean {
  const [, year, ...rest] = UTC_TIME.exec(text) ?? [];
  if (year === undefined) return false;
  return isMoment(Number(year) + (Number(year) >= CENTURY_STARTS ? 1900 : 2000), rest);
}

/** Whether Go reads a GeneralizedTime and prints it as the same text. */
export function isGeneralizedTime(text: string): boolean {
  const [, year, ...rest] = GENERALIZED_TIME.exec(text) ?? [];
  return year !== undefined && isMoment(Number(year), rest);
}

function isMoment(year: number, parts: readonly (string | undefined)[]): boolean {
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(0, 5).map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return false;
  return hour < 24 && minute < 60 && second < 60 && isZone(parts[5] ?? "");
}

/** A zone is printed with at most 59 minutes, and none at all as `Z`. */
function isZone(zone: string): boolean {
  if (zone === "Z") return true;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3))];
  return hours <= 24 && minutes < 60 && hours + minutes > 0;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
