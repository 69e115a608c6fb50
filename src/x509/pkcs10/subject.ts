/** A subject: relative distinguished names, each a set of attributes (spec certificate-request-policy.md 1.2). */
import { MalformedRequest, type SubjectAttribute } from "./certification-request.js";
import { type Element, type ElementReader, IDENTIFIER } from "./element.js";
import { isBitString, isBoolean, isInt64, oidOf, oidText } from "./primitives.js";
import { TEXT_TYPES } from "./text.js";

// Times of ASN.1: a malformed one makes the whole request malformed, even as the value of a name.

/** Year (two digits), month, day, hour, minute, perhaps seconds, zone. */
const UTC_TIME = /^\d{10}(?:\d\d)?(?:Z|[+-]\d{4})$/;
/** Year (four digits) and so on, with seconds, and perhaps parts of a second that do not end with a zero. */
const GENERALIZED_TIME = /^\d{14}(?:\.\d{0,8}[1-9])?(?:Z|[+-]\d{4})$/;
/** The places of zone and seconds. */
const ZONE = 5;
const UTC_SECONDS = 10;

/** Whether Go reads a UTCTime and prints it as the same text. */
function isUtcTime(text: string): boolean {
  if (!UTC_TIME.test(text)) return false;
  const hasSeconds = text.length > UTC_SECONDS + (text.endsWith("Z") ? 1 : ZONE);
  // Of 1969 to 2068; the century makes no difference to the number of days in a month.
  return isMoment(2000 + twoDigits(text, 0), text, 2, hasSeconds);
}

/** Whether Go reads a GeneralizedTime and prints it as the same text. */
function isGeneralizedTime(text: string): boolean {
  return GENERALIZED_TIME.test(text) && isMoment(100 * twoDigits(text, 0) + twoDigits(text, 2), text, 4, true);
}

const twoDigits = (text: string, at: number): number => 10 * digit(text, at) + digit(text, at + 1);
const digit = (text: string, at: number): number => text.charCodeAt(at) - 0x30;

/** Whether month, day and so on, from `at` on, are a valid moment, and the end is a valid zone. */
function isMoment(year: number, text: string, at: number, hasSeconds: boolean): boolean {
  const month = twoDigits(text, at);
  const day = twoDigits(text, at + 2);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return false;
  if (twoDigits(text, at + 4) > 23 || twoDigits(text, at + 6) > 59) return false;
  return (
    (!hasSeconds || twoDigits(text, at + 8) < 60) && (text.endsWith("Z") || isOffset(text, text.length - ZONE + 1))
  );
}

/** Whether hours and minutes are a valid zone: minutes are printed as less than an hour's, and no offset at all as `Z`. */
function isOffset(text: string, at: number): boolean {
  const [hours, minutes] = [twoDigits(text, at), twoDigits(text, at + 2)];
  return hours <= 24 && minutes < 60 && hours + minutes > 0;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The attributes of the sets that a reader gives, one after the other. */
export function readNames(sets: ElementReader): readonly SubjectAttribute[] | MalformedRequest {
  const attributes: SubjectAttribute[] = [];
  while (!sets.atEnd) {
    const set = sets.expect(IDENTIFIER.set);
    if (set instanceof MalformedRequest) return set;
    for (const members = set.inside(); !members.atEnd; ) {
      const attribute = readAttribute(members.expect(IDENTIFIER.sequence));
      if (attribute instanceof MalformedRequest) return attribute;
      attributes.push(attribute);
    }
  }
  return attributes;
}

function readAttribute(element: Element | MalformedRequest): SubjectAttribute | MalformedRequest {
  if (element instanceof MalformedRequest) return element;
  const reader = element.inside();
  const oid = oidOf(reader.expect(IDENTIFIER.oid));
  if (oid instanceof MalformedRequest) return oid;
  const value = reader.next();
  if (value instanceof MalformedRequest) return value;
  const { identifier } = value;
  const type = TEXT_TYPES.get(identifier);
  if (type === undefined) {
    return isSound(identifier, value)
      ? { oid, value: undefined }
      : new MalformedRequest(`asn1: malformed value of ${oid}`);
  }
  const text = type.read(value);
  return text === undefined ? new MalformedRequest(type.problem) : { oid, value: text };
}

/** Whether a value other than a text is valid for its type; unknown types are not checked. */
function isSound(identifier: number, value: Element): boolean {
  switch (identifier) {
    case IDENTIFIER.boolean:
      return isBoolean(value);
    case IDENTIFIER.integer:
      return isInt64(value);
    case IDENTIFIER.bitString:
      return isBitString(value);
    case IDENTIFIER.oid:
      return !(oidText(value) instanceof MalformedRequest);
    case IDENTIFIER.utcTime:
      return isUtcTime(value.text);
    case IDENTIFIER.generalizedTime:
      return isGeneralizedTime(value.text);
    default:
      return true;
  }
}
