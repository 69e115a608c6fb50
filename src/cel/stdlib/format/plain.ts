/** `format` outside Kubernetes (spec kubernetes-cel.md 4.14): version 5 of the strings extension, plain numbers and plain values. */

import { kindOf, typeNameOf } from "../../operators/kind.js";
import { CelError } from "../../values/cel-error.js";
import { fixedText } from "../../values/double-text.js";
import { durationText } from "../../values/duration-text.js";
import { fixedDigits, scientificDigits } from "../../values/exact-decimal.js";
import { isDouble, numberOf } from "../../values/numbers.js";
import { type Duration, Timestamp } from "../../values/time.js";
import { timestampText } from "../../values/timestamp-text.js";
import type { TypeValue } from "../../values/type-value.js";
import type { Result, Value } from "../../values/value.js";
import type { Work } from "../../values/work.js";
import { listText, mapText } from "./collections.js";
import { type Dialect, formatWith } from "./dialect.js";
import { grouped } from "./grouped.js";
import { renderInteger } from "./integers.js";

/** Digits behind the point when no precision is given. */
const DEFAULT_PRECISION = 6;

/** Version 5 of the strings extension. */
export const plain: Dialect = {
  kinds: {
    ...grouped.kinds,
    d: ["int", "uint", "double"],
    f: ["int", "uint", "double"],
    e: ["int", "uint", "double"],
  },
  complaints: {
    s: grouped.complaints.s,
    d: "decimal clause can only be used on ints, uints, and doubles",
    f: "fixed-point clause can only be used on ints, uints, and doubles",
    e: "scientific clause can only be used on ints, uints, and doubles",
    b: "only ints, uints, and bools can be formatted as binary",
    o: "octal clause can only be used on ints and uints",
    x: "only ints, uints, bytes, and strings can be formatted as hex",
    X: "only ints, uints, bytes, and strings can be formatted as hex",
  },
  maxPrecision: 100,
  render(letter, value, precision = DEFAULT_PRECISION, work) {
    switch (letter) {
      case "s":
        return text(value, work);
      case "d":
        return isDouble(value) ? doubleText(value.valueOf()) : renderInteger(letter, value);
      case "f":
      case "e":
        return renderDouble(letter, value, precision);
      default:
        return renderInteger(letter, value);
    }
  },
};

/** `string.format(list)` outside Kubernetes. */
export const plainFormat = (format: string, args: readonly Value[]): Result => formatWith(plain, format, args);

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "Infinity" : "-Infinity";
}

const doubleText = (value: number): string => specialText(value) ?? fixedText(value);

function renderDouble(letter: "f" | "e", value: Value, precision: number): string | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  const special = specialText(number);
  if (special !== undefined) return special;
  const sign = number < 0 || Object.is(number, -0) ? "-" : "";
  if (letter === "f") return sign + joined(...fixedDigits(number, precision));
  const [whole, fraction, exponent] = scientificDigits(number, precision);
  const exponentText = `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return `${sign}${joined(whole, fraction)}e${exponentText}`;
}

const joined = (whole: string, fraction: string): string => (fraction === "" ? whole : `${whole}.${fraction}`);

/** `%s`, by itself or inside a list or map; the error names the very value that cannot be printed. */
function text(value: Value, work: Work): string | CelError {
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "string":
      return value as string;
    case "bool":
      return String(value);
    case "int":
    case "uint":
      return renderInteger("d", value) ?? "";
    case "double":
      return doubleText(Number(value));
    case "bytes":
      return new TextDecoder().decode(value as Uint8Array);
    case "timestamp":
      return timestampText(new Timestamp((value as Timestamp).seconds, (value as Timestamp).nanos));
    case "duration":
      return durationText(value as Duration);
    case "type":
      return (value as TypeValue).name;
    case "list":
      return listText(value as readonly Value[], text, work);
    case "map":
      return mapText(value, text, text, ": ", work);
    default:
      return new CelError(`${grouped.complaints.s}, was given ${typeNameOf(value)}`);
  }
}
