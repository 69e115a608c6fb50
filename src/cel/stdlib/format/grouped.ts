/** `format` in Kubernetes (spec kubernetes-cel.md 4.3): numbers in US English notation. */

import { isPlain, quoted } from "../../../data/go/quoted-text.js";
import { decodeUtf8 } from "../../../data/utf8.js";
import { kindOf, typeNameOf } from "../../operators/kind.js";
import { CelError } from "../../values/cel-error.js";
import { doubleText, fixedText } from "../../values/double-text.js";
import { durationText } from "../../values/duration-text.js";
import { fixedDigits, scientificDigits } from "../../values/exact-decimal.js";
import { tooLarge } from "../../values/limits.js";
import { isDouble } from "../../values/numbers.js";
import type { Duration, Timestamp } from "../../values/time.js";
import { timestampText } from "../../values/timestamp-text.js";
import type { TypeValue } from "../../values/type-value.js";
import type { Result, Value } from "../../values/value.js";
import type { Work } from "../../values/work.js";
import { listText, mapText } from "./collections.js";
import { type Dialect, formatWith } from "./dialect.js";
import { renderInteger } from "./integers.js";

const STRING_COMPLAINT =
  "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

/** Version 2 of the strings extension. */
export const grouped: Dialect = {
  kinds: {
    s: ["null", "bool", "int", "uint", "double", "string", "bytes", "list", "map", "timestamp", "duration", "type"],
    d: ["int", "uint"],
    f: ["double", "string"],
    e: ["double", "string"],
    b: ["int", "uint", "bool"],
    o: ["int", "uint"],
    x: ["int", "uint", "string", "bytes"],
    X: ["int", "uint", "string", "bytes"],
  },
  complaints: {
    s: STRING_COMPLAINT,
    d: "decimal clause can only be used on integers",
    f: "fixed-point clause can only be used on doubles",
    e: "scientific clause can only be used on doubles",
    b: "only integers and bools can be formatted as binary",
    o: "octal clause can only be used on integers",
    x: "only integers, byte buffers, and strings can be formatted as hex",
    X: "only integers, byte buffers, and strings can be formatted as hex",
  },
  maxPrecision: undefined,
  render(letter, value, precision, work) {
    switch (letter) {
      case "s":
        return text(value, work);
      case "f":
      case "e":
        return renderDouble(letter, value, precision);
      default:
        return renderInteger(letter, value);
    }
  },
};

/** `string.format(list)` in Kubernetes. */
export const groupedFormat = (format: string, args: readonly Value[]): Result => formatWith(grouped, format, args);

/** Digits behind the point when no precision is given; `%e` always has as many, and reads its precision as a minimum width. */
const DEFAULT_PRECISION = 6;

function renderDouble(letter: "f" | "e", value: Value, precision = DEFAULT_PRECISION): string | undefined {
  const double = doubleToRender(value);
  if (double === undefined) return undefined;
  if (letter === "f") return specialText(double) ?? groupedText(double, precision);
  // The reference keeps the width in 16 bits.
  return (specialText(double) ?? scientificText(double)).padStart(precision % 65_536);
}

/** A double, or one of three strings that stand for one. */
function doubleToRender(value: Value): number | undefined {
  if (isDouble(value)) return value.valueOf();
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  return value === "-Infinity" ? Number.NEGATIVE_INFINITY : undefined;
}

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "∞" : "-∞";
}

/**
 * `1,234.500000`. The reference keeps the greatest number of fraction digits in 16 bits and the least in 8, so that a precision above 255 cuts trailing
 * zeros, and one whose 16th bit is set means the shortest digits.
 */
function groupedText(value: number, precision: number): string {
  const least = precision % 256;
  const most = (precision % 65_536) - (precision % 65_536 >= 32_768 ? 65_536 : 0);
  const [whole = "0", digits = ""] = most < 0 ? fixedText(Math.abs(value)).split(".") : fixedDigits(value, most);
  let end = digits.length;
  while (end > least && digits[end - 1] === "0") end--;
  const fraction = digits.slice(0, end).padEnd(least, "0");
  const groups = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
  return `${value < 0 ? "-" : ""}${groups}${fraction === "" ? "" : `.${fraction}`}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** `1.052033×10⁰³`. */
function scientificText(value: number): string {
  const [whole, fraction, exponent] = scientificDigits(value, DEFAULT_PRECISION);
  const digits = String(Math.abs(exponent)).padStart(2, "0");
  const superscript = Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `${value < 0 ? "-" : ""}${whole}.${fraction}×10${exponent < 0 ? "⁻" : ""}${superscript}`;
}

/** `%s` of a value by itself. */
function text(value: Value, work: Work): string | CelError | undefined {
  switch (kindOf(value)) {
    case "string":
      return value as string;
    case "double":
      return doubleText(Number(value));
    case "timestamp":
      return timestampText(value as Timestamp);
    case "duration":
      return durationText(value as Duration);
    case "optional":
    case "opaque":
    case "object":
      return undefined;
    default:
      return part(value, work);
  }
}

/** Digits of a double inside a list or map. */
const PART_DIGITS = 6;

/** The work of a character of a text that may have to be escaped. */
const CHARACTER_UNITS = 15;

function quotedPart(value: string, work: Work): string {
  if (!isPlain(value)) work.left -= CHARACTER_UNITS * value.length;
  return work.left < 0 ? tooLarge() : quoted(value);
}

/** A value inside a list or map, written as CEL; or by itself, where there is no difference. */
function part(value: Value, work: Work): string | CelError {
  const kind = kindOf(value);
  switch (kind) {
    case "null":
      return "null";
    case "bool":
      return String(value);
    case "int":
    case "uint":
      return renderInteger("d", value) ?? "";
    case "double":
      return doublePart(Number(value));
    case "string":
      return quotedPart(value as string, work);
    case "bytes":
      return decodeUtf8(value as Uint8Array) ?? NOT_TEXT;
    case "timestamp":
      return `timestamp(${quoted(timestampText(value as Timestamp))})`;
    case "duration":
      return `duration(${quoted(durationText(value as Duration))})`;
    case "type":
      return (value as TypeValue).name;
    case "list":
      return listText(value as readonly Value[], nested, work);
    case "map":
      return mapText(value, keyText, nested, ":", work);
    default:
      return new CelError(`no formatting function for ${typeNameOf(value)}`);
  }
}

const NOT_TEXT = new CelError(
  'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
);

function doublePart(value: number): string {
  if (!Number.isFinite(value)) return quoted(doubleText(value));
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return sign + fixedDigits(value, PART_DIGITS).join(".");
}

/** A part of a list or map: bytes are quoted there. */
function nested(value: Value, work: Work): string | CelError {
  const result = part(value, work);
  return value instanceof Uint8Array && typeof result === "string" ? `b${quoted(result)}` : result;
}

/** A key of a map. */
function keyText(key: Value, work: Work): string | CelError {
  const kind = kindOf(key);
  return kind === "string" || kind === "bool" || kind === "int" || kind === "uint"
    ? nested(key, work)
    : new CelError(`no formatting function for map key of type ${typeNameOf(key)}`);
}
