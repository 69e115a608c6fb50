/** Times of ASN.1: a malformed one makes the whole request malformed, also where it stands for a name. */

/** Year (two digits), month, day, hour, minute, perhaps seconds, zone. */
const UTC_TIME = /^\d{10}(?:\d\d)?(?:Z|[+-]\d{4})$/;
/** Year (four digits) and so on, with seconds, and perhaps parts of a second that do not end with a zero. */
const GENERALIZED_TIME = /^\d{14}(?:\.\d{0,8}[1-9])?(?:Z|[+-]\d{4})$/;
/** Where zone and seconds stand. */
const ZONE = 5;
const UTC_SECONDS = 10;

/** Whether Go reads a UTCTime and prints it as the same text. */
export function isUtcTime(text: string): boolean {
  if (!UTC_TIME.test(text)) return false;
  const hasSeconds = text.length > UTC_SECONDS + (text.endsWith("Z") ? 1 : ZONE);
  // Of 1969 to 2068; which century it is makes no difference to the days that a month has.
  return isMoment(2000 + twoDigits(text, 0), text, 2, hasSeconds);
}

/** Whether Go reads a GeneralizedTime and prints it as the same text. */
export function isGeneralizedTime(text: string): boolean {
  return GENERALIZED_TIME.test(text) && isMoment(100 * twoDigits(text, 0) + twoDigits(text, 2), text, 4, true);
}

const twoDigits = (text: string, at: number): number => 10 * digit(text, at) + digit(text, at + 1);
const digit = (text: string, at: number): number => text.charCodeAt(at) - 0x30;

/** Whether month, day and so on, which begin at `at`, are those of a moment, and the zone at the end is one. */
function isMoment(year: number, text: string, at: number, hasSeconds: boolean): boolean {
  const month = twoDigits(text, at);
  const day = twoDigits(text, at + 2);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return false;
  if (twoDigits(text, at + 4) > 23 || twoDigits(text, at + 6) > 59) return false;
  return (
    (!hasSeconds || twoDigits(text, at + 8) < 60) && (text.endsWith("Z") || isOffset(text, text.length - ZONE + 1))
  );
}

/** Hours and minutes of a zone: minutes are printed as less than an hour's, and no offset at all as `Z`. */
function isOffset(text: string, at: number): boolean {
  const [hours, minutes] = [twoDigits(text, at), twoDigits(text, at + 2)];
  return hours <= 24 && minutes < 60 && hours + minutes > 0;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
