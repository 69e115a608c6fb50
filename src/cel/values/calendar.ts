/** The proleptic Gregorian calendar on days counted from 1970-01-01; years may be 0 and less. */

/** A date: month 1 … 12, day 1 … 31. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days in 400 years, and from 0000-03-01 to 1970-01-01. */
const DAYS_PER_ERA = 146_097;
const EPOCH_FROM_MARCH_0 = 719_468;

/** The day number of a date. */
export function daysFromCivil(year: number, month: number, day: number): number {
  // Years begin in March here, so that the leap day is the last one.
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - EPOCH_FROM_MARCH_0;
}

/** The date of a day number. */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + EPOCH_FROM_MARCH_0;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Whether a year has a 29th of February. */
const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The number of days of a month (1 … 12). */
export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_LENGTHS[month - 1] as number);

/** 0 … 365. */
export const dayOfYear = (date: CivilDate): number =>
  daysFromCivil(date.year, date.month, date.day) - daysFromCivil(date.year, 1, 1);

/** 0 is Sunday. */
export const dayOfWeek = (days: number): number => (((days + 4) % 7) + 7) % 7;
