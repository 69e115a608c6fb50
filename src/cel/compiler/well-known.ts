/**
 * Message literals of protobuf's well-known types: they yield plain values (spec kubernetes-cel.md 2.1).
 */
import { add } from "../operators/arithmetic.js";
import { doubleOf, kindOf, nativeNameOf, typeNameOf } from "../operators/kind.js";
import { entriesOf } from "../operators/maps.js";
import { CelError } from "../values/cel-error.js";
import { durationText } from "../values/duration-text.js";
import { EmptyMessage } from "../values/empty-message.js";
import { INT_MAX, INT_MIN, makeDouble, makeInt } from "../values/numbers.js";
import { Duration, Timestamp } from "../values/time.js";
import { timestampText } from "../values/timestamp-text.js";
import { Uint } from "../values/uint.js";
import type { Optional, Result, Value } from "../values/value.js";
import { anyMessage } from "./any-message.js";

type Fields = ReadonlyMap<string, Value>;
type Construct = (fields: Fields) => Result;

const INT32_MAX = 2 ** 31 - 1;
const UINT32_MAX = 2 ** 32 - 1;

/** The error of a field whose value has another kind than declared. */
const mismatch = (type: string, field: string, reason: string): CelError =>
  new CelError(`field type conversion error for ${type}.${field} value type: ${reason}`);

/** Reads an integer field of 64 or 32 bits; 0 when it is absent. */
function integer(type: string, fields: Fields, field: string, narrow: boolean): bigint | CelError {
  const value = fields.get(field) ?? 0;
  if (kindOf(value) !== "int") {
    const width = narrow ? "int32" : "int64";
    const kind = kindOf(value) === "double" ? "Double" : `'${typeNameOf(value)}'`;
    return mismatch(type, field, `type conversion error from ${kind} to '${width}'`);
  }
  const number = BigInt(value as number | bigint);
  if (narrow && (number > INT32_MAX || number < -INT32_MAX - 1)) return mismatch(type, field, "integer overflow");
  return number;
}

const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";

function timestamp(fields: Fields): Result {
  const seconds = integer(TIMESTAMP, fields, "seconds", false);
  if (seconds instanceof CelError) return seconds;
  const nanos = integer(TIMESTAMP, fields, "nanos", true);
  if (nanos instanceof CelError) return nanos;
  return add(new Timestamp(Number(seconds), 0), new Duration(Number(nanos)));
}

/** A duration; beyond the range it is the nearest limit. */
function duration(fields: Fields): Result {
  const seconds = integer(DURATION, fields, "seconds", false);
  if (seconds instanceof CelError) return seconds;
  const nanos = integer(DURATION, fields, "nanos", true);
  if (nanos instanceof CelError) return nanos;
  const total = seconds * 1_000_000_000n + nanos;
  const clamped = total > INT_MAX ? INT_MAX : total < INT_MIN ? INT_MIN : total;
  return new Duration(makeInt(clamped));
}

/** A wrapper of a scalar: its value, or the kind's zero. */
function wrapper(type: string, kind: string, zero: Value, limit = Number.POSITIVE_INFINITY): [string, Construct] {
  const name = `google.protobuf.${type}`;
  const construct = (fields: Fields): Result => {
    const value = fields.get("value") ?? zero;
    if (kindOf(value) !== kind) return mismatch(name, "value", wrongKind(value, kind));
    if (kind === "int" && limit === INT32_MAX && (Number(value) > limit || Number(value) < -limit - 1)) {
      return mismatch(name, "value", "integer overflow");
    }
    if (value instanceof Uint && Number(value.value) > limit)
      return mismatch(name, "value", "unsigned integer overflow");
    return type === "FloatValue" ? makeDouble(Math.fround(doubleOf(value) as number)) : value;
  };
  return [name, construct];
}

/** The error of a value of the wrong kind: the reference words it differently from kind to kind. */
function wrongKind(value: Value, kind: string): string {
  const from = typeNameOf(value);
  if (from === "int") return `unsupported type conversion from 'int' to ${kind === "double" ? "float64" : kind}`;
  if (from === "string") return `unsupported native conversion from string to '${kind}'`;
  return `type conversion error from '${from}' to '${kind === "int" ? "int64" : kind}'`;
}

/** The largest integers that a double holds exactly: beyond, JSON has them as text. */
const isExact = (integer: number | bigint): boolean => typeof integer === "number";

/** A value as JSON has it: numbers are doubles, bytes and times texts. */
function toJsonValue(value: Value): Result {
  switch (kindOf(value)) {
    case "int":
      return isExact(value as number | bigint) ? makeDouble(Number(value)) : String(value);
    case "uint": {
      const { value: integer } = value as Uint;
      return isExact(integer) ? makeDouble(Number(integer)) : String(integer);
    }
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64");
    case "timestamp":
      return timestampText(value as Timestamp);
    case "duration":
      return durationText(value as Duration);
    case "optional":
      return (value as Optional).value === undefined ? null : toJsonValue((value as Optional).value as Value);
    case "list":
      return all((value as readonly Value[]).map(toJsonValue), (items) => items);
    case "map": {
      const entries = [...entriesOf(value)];
      const keys = entries.map(([key]) => (kindOf(key) === "uint" ? String((key as Uint).value) : String(key)));
      const items = entries.map(([, item]) => toJsonValue(item));
      return all(items, (converted) => Object.fromEntries(converted.map((item, index) => [keys[index], item])));
    }
    case "type":
    case "opaque":
    case "object":
      if (value instanceof EmptyMessage) return {};
      return new CelError(`unsupported conversion to google.protobuf.Value: ${nativeNameOf(value)}`);
    default:
      return value;
  }
}

function all(items: readonly Result[], make: (values: readonly Value[]) => Value): Result {
  const failed = items.find((item) => item instanceof CelError);
  return failed ?? make(items as readonly Value[]);
}

/** A `google.protobuf.Value`: the field that is set; null when none is. */
function jsonValue(fields: Fields): Result {
  const [set] = [...fields].filter(([name]) => name !== "null_value");
  return set === undefined ? null : toJsonValue(set[1]);
}

/** The constructors of message literals of the well-known types, by full name. */
export const WELL_KNOWN_CONSTRUCTORS: ReadonlyMap<string, Construct> = new Map<string, Construct>([
  [TIMESTAMP, timestamp],
  [DURATION, duration],
  wrapper("BoolValue", "bool", false),
  wrapper("StringValue", "string", ""),
  wrapper("BytesValue", "bytes", new Uint8Array(0)),
  wrapper("DoubleValue", "double", makeDouble(0)),
  wrapper("FloatValue", "double", makeDouble(0)),
  wrapper("Int32Value", "int", 0, INT32_MAX),
  wrapper("Int64Value", "int", 0),
  wrapper("UInt32Value", "uint", new Uint(0), UINT32_MAX),
  wrapper("UInt64Value", "uint", new Uint(0)),
  ["google.protobuf.ListValue", (fields) => toJsonValue(fields.get("values") ?? [])],
  ["google.protobuf.Struct", (fields) => toJsonValue(fields.get("fields") ?? {})],
  ["google.protobuf.Value", jsonValue],
  ["google.protobuf.Any", anyMessage],
  ["google.protobuf.Empty", () => new EmptyMessage()],
]);
