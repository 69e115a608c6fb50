/** Conversions and the functions on types (spec kubernetes-cel.md 3.2). */

import { quoted } from "../../data/go/quoted-text.js";
import { decodeUtf8, encodeUtf8 } from "../../data/utf8.js";
import type { Implementation, Library } from "../declarations.js";
import { dynamicFn, fn, type Native, overload } from "../declare.js";
import { typeNameOf } from "../operators/kind.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  optionalType,
  runtimeTypeName,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  typeType,
  UINT,
} from "../types.js";
import { CelError } from "../values/cel-error.js";
import { doubleText, parseDouble } from "../values/double-text.js";
import { durationText, parseDuration } from "../values/duration-text.js";
import { INT_MAX, INT_MIN, intResult, makeDouble, makeInt, overflow, UINT_MAX } from "../values/numbers.js";
import { type Duration, Timestamp } from "../values/time.js";
import { isInRange, parseTimestamp, timestampText } from "../values/timestamp-text.js";
import { TypeValue } from "../values/type-value.js";
import { Uint, uintOf } from "../values/uint.js";
import type { Result, Value } from "../values/value.js";

const A = typeParam("A");

/** The types that are identifiers, as values of type `type`. */
const typeNames: ReadonlyMap<string, Type> = new Map(
  [
    ...[BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT],
    ...[listType(DYN), mapType(DYN, DYN), typeType(), optionalType(DYN)],
  ].map((type) => [runtimeTypeName(type), type]),
);

const identity = (value: Value): Result => value;

const cannotConvert = (to: string): CelError =>
  new CelError(`type conversion error from 'string' to '${to}'`, "conversion");

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function stringToBool(text: string): Result {
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : cannotConvert("bool");
}

/** The value of a text of digits with an optional sign within bounds; more digits than any bound has are not even read. */
function parseInteger(text: string, pattern: RegExp, min: bigint, max: bigint): bigint | undefined {
  if (!pattern.test(text)) return undefined;
  const digits = text.replace(/^[+-]?0*/, "");
  if (digits.length > 20) return undefined;
  const value = text.startsWith("-") ? -BigInt(digits) : BigInt(digits);
  return value < min || value > max ? undefined : value;
}

/** Digits of which any number is an int that a JavaScript number holds exactly. */
const MAX_PLAIN_DIGITS = 15;

/** The value of a text of a few digits, which nearly all such texts are; `undefined` of all others. */
function plainDigits(text: string): number | undefined {
  if (text.length === 0 || text.length > MAX_PLAIN_DIGITS) return undefined;
  let value = 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function stringToInt(text: string): Result {
  const plain = plainDigits(text);
  if (plain !== undefined) return plain;
  const value = parseInteger(text, /^[+-]?[0-9]+$/, INT_MIN, INT_MAX);
  return value === undefined ? cannotConvert("int") : makeInt(value);
}

function stringToUint(text: string): Result {
  const value = parseInteger(text, /^[0-9]+$/, 0n, UINT_MAX);
  return value === undefined ? cannotConvert("uint") : uintOf(value);
}

// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
function doubleToInt(value: number | Number): Result {
  const double = value.valueOf();
  // Both bounds are excluded, although -2^63 is an int.
  if (!(double > -(2 ** 63) && double < 2 ** 63)) return overflow("integer");
  return makeInt(BigInt(Math.trunc(double)));
}

// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
function doubleToUint(value: number | Number): Result {
  const double = value.valueOf();
  if (!(double >= 0 && double < 2 ** 64)) return overflow("unsigned integer");
  return uintOf(BigInt(Math.trunc(double)));
}

function stringToDouble(text: string): Result {
  const value = parseDouble(text);
  return value === undefined ? cannotConvert("double") : makeDouble(value);
}

function stringToTimestamp(text: string): Result {
  const value = parseTimestamp(text);
  if (value === "range") return new CelError("timestamp overflow", "overflow");
  return value ?? cannotConvert("google.protobuf.Timestamp");
}

/** Strict RFC 3339, as far as a pattern can express it; upper or lower case, of which the parser takes the upper only. */
const STRICT_FORM =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const strictlyToTimestamp = (text: string): Result =>
  STRICT_FORM.test(text)
    ? stringToTimestamp(text)
    : new CelError(`invalid RFC 3339 timestamp ${quoted(text)}`, "conversion");

function intToTimestamp(seconds: number | bigint): Result {
  return typeof seconds === "number" && isInRange(seconds)
    ? new Timestamp(seconds, 0)
    : new CelError("timestamp overflow", "overflow");
}

const stringToDuration = (text: string): Result => parseDuration(text) ?? cannotConvert("google.protobuf.Duration");

const bytesToString = (bytes: Uint8Array): Result =>
  decodeUtf8(bytes) ?? new CelError("invalid UTF-8 in bytes, cannot convert to string", "conversion");

const typeOf: Implementation = (value) => new TypeValue(typeNameOf(value as Value));

/** The name of a type in the id of a conversion. */
const nameOf = ({ kind }: Type): string => (kind === "int" || kind === "uint" ? `${kind}64` : kind);

/** A conversion's overload, `FROM_to_TO`. */
const conversion = (from: Type, to: Type, implementation: Native) =>
  overload(`${nameOf(from)}_to_${nameOf(to)}`, [from], to, implementation);

/** Conversions between kinds, `type` and `dyn`, and the names of the built-in types. */
export const conversionLibrary: Library = {
  name: "conversions",
  typeNames,
  functions: [
    dynamicFn("type", typeOf, overload("type", [A], typeType(A), typeOf)),
    dynamicFn("dyn", (value) => value as Value, overload("to_dyn", [A], DYN, identity)),
    fn("bool", conversion(BOOL, BOOL, identity), conversion(STRING, BOOL, stringToBool)),
    fn("bytes", conversion(BYTES, BYTES, identity), conversion(STRING, BYTES, encodeUtf8)),
    fn(
      "double",
      conversion(DOUBLE, DOUBLE, identity),
      conversion(INT, DOUBLE, (value: number | bigint) => makeDouble(Number(value))),
      conversion(STRING, DOUBLE, stringToDouble),
      conversion(UINT, DOUBLE, (value: Uint) => makeDouble(Number(value.value))),
    ),
    fn("duration", conversion(DURATION, DURATION, identity), conversion(STRING, DURATION, stringToDuration)),
    fn(
      "int",
      conversion(INT, INT, identity),
      conversion(DOUBLE, INT, doubleToInt),
      conversion(DURATION, INT, ({ nanos }: Duration) => nanos),
      conversion(STRING, INT, stringToInt),
      conversion(TIMESTAMP, INT, ({ seconds }: Timestamp) => seconds),
      conversion(UINT, INT, ({ value }: Uint) => intResult(BigInt(value))),
    ),
    fn(
      "string",
      conversion(STRING, STRING, identity),
      conversion(BOOL, STRING, (value: boolean) => String(value)),
      conversion(BYTES, STRING, bytesToString),
      // biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
      conversion(DOUBLE, STRING, (value: number | Number) => doubleText(value.valueOf())),
      conversion(DURATION, STRING, durationText),
      conversion(INT, STRING, (value: number | bigint) => String(value)),
      conversion(TIMESTAMP, STRING, timestampText),
      conversion(UINT, STRING, ({ value }: Uint) => String(value)),
    ),
    fn(
      "timestamp",
      conversion(TIMESTAMP, TIMESTAMP, identity),
      conversion(INT, TIMESTAMP, intToTimestamp),
      conversion(STRING, TIMESTAMP, stringToTimestamp),
    ),
    fn(
      "uint",
      conversion(UINT, UINT, identity),
      conversion(DOUBLE, UINT, doubleToUint),
      conversion(INT, UINT, (value: number | bigint) => (value < 0 ? overflow("unsigned integer") : new Uint(value))),
      conversion(STRING, UINT, stringToUint),
    ),
  ],
};

/** The same by the rules of the reference's newest releases: deviations from RFC 3339 that Go tolerates are refused. */
export const strictConversionLibrary: Library = {
  ...conversionLibrary,
  functions: conversionLibrary.functions.map((declaration) => ({
    ...declaration,
    overloads: declaration.overloads.map((each) =>
      each.id === "string_to_timestamp" ? conversion(STRING, TIMESTAMP, strictlyToTimestamp) : each,
    ),
  })),
};
