/** Values and types of the official conformance data (protobuf's JSON form) as the engine's own. */
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  objectType,
  opaqueType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  typeType,
  UINT,
  wrapperType,
} from "../../src/cel/types.js";
import { parseDuration } from "../../src/cel/values/duration-text.js";
import { makeDouble, makeInt } from "../../src/cel/values/numbers.js";
import { Duration, Timestamp } from "../../src/cel/values/time.js";
import { parseTimestamp } from "../../src/cel/values/timestamp-text.js";
import { TypeValue } from "../../src/cel/values/type-value.js";
import { uintOf } from "../../src/cel/values/uint.js";
import { MapValue, type Value } from "../../src/cel/values/value.js";

type Json = Readonly<Record<string, unknown>>;

/** What the data holds and the engine has not: protobuf messages and enums. */
export class NeedsProtobuf extends Error {}

/** A `cel.expr.Value`. */
export function specValue(json: unknown): Value {
  const [[kind, content] = ["nullValue", null]] = Object.entries(json as Json);
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
      return content as boolean;
    case "int64Value":
      return makeInt(BigInt(content as string));
    case "uint64Value":
      return uintOf(BigInt(content as string));
    case "doubleValue":
      return makeDouble(Number(content));
    case "stringValue":
      return content as string;
    case "bytesValue":
      return new Uint8Array(Buffer.from(content as string, "base64"));
    case "typeValue":
      return new TypeValue(content as string);
    case "listValue":
      return (((content as Json).values ?? []) as unknown[]).map(specValue);
    case "mapValue": {
      const map = new MapValue();
      for (const { key, value } of ((content as Json).entries ?? []) as Json[])
        map.set(specValue(key), specValue(value));
      return map;
    }
    case "objectValue":
      return messageValue(content as Json);
    default:
      throw new NeedsProtobuf(kind);
  }
}

/** The well-known types among messages. */
function messageValue(message: Json): Value {
  const name = String(message["@type"]).replace("type.googleapis.com/", "");
  const value = message.value;
  switch (name) {
    case "google.protobuf.Timestamp": {
      const timestamp = parseTimestamp(value as string);
      if (timestamp instanceof Timestamp) return timestamp;
      break;
    }
    case "google.protobuf.Duration": {
      const duration = parseDuration(value as string);
      if (duration instanceof Duration) return duration;
      break;
    }
    case "google.protobuf.BoolValue":
    case "google.protobuf.StringValue":
      return value as Value;
    case "google.protobuf.BytesValue":
      return new Uint8Array(Buffer.from((value as string | undefined) ?? "", "base64"));
    case "google.protobuf.Int32Value":
    case "google.protobuf.Int64Value":
      return makeInt(BigInt(value as string));
    case "google.protobuf.UInt32Value":
    case "google.protobuf.UInt64Value":
      return uintOf(BigInt(value as string));
    case "google.protobuf.FloatValue":
    case "google.protobuf.DoubleValue":
      return makeDouble(Number(value));
    case "google.protobuf.Struct":
    case "google.protobuf.ListValue":
    case "google.protobuf.Value":
      return jsonValue(value);
  }
  throw new NeedsProtobuf(name);
}

/** Plain JSON, whose numbers are doubles. */
function jsonValue(value: unknown): Value {
  if (typeof value === "number") return makeDouble(value);
  if (Array.isArray(value)) return value.map(jsonValue);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonValue(item)]));
  }
  return value as Value;
}

const PRIMITIVES: ReadonlyMap<unknown, Type> = new Map<unknown, Type>([
  ["BOOL", BOOL],
  ["INT64", INT],
  ["UINT64", UINT],
  ["DOUBLE", DOUBLE],
  ["STRING", STRING],
  ["BYTES", BYTES],
]);

const WELL_KNOWN: ReadonlyMap<unknown, Type> = new Map<unknown, Type>([
  ["ANY", ANY],
  ["TIMESTAMP", TIMESTAMP],
  ["DURATION", DURATION],
]);

/** A message type by name; the well-known ones are types of the language. */
function messageType(name: string): Type {
  const known: Readonly<Record<string, Type>> = {
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
    "google.protobuf.Any": ANY,
    "google.protobuf.Value": DYN,
    "google.protobuf.Struct": mapType(STRING, DYN),
    "google.protobuf.ListValue": listType(DYN),
    "google.protobuf.BoolValue": wrapperType(BOOL),
    "google.protobuf.Int32Value": wrapperType(INT),
    "google.protobuf.Int64Value": wrapperType(INT),
    "google.protobuf.UInt32Value": wrapperType(UINT),
    "google.protobuf.UInt64Value": wrapperType(UINT),
    "google.protobuf.FloatValue": wrapperType(DOUBLE),
    "google.protobuf.DoubleValue": wrapperType(DOUBLE),
    "google.protobuf.StringValue": wrapperType(STRING),
    "google.protobuf.BytesValue": wrapperType(BYTES),
  };
  const type = Object.hasOwn(known, name) ? known[name] : undefined;
  if (type !== undefined) return type;
  if (name.startsWith("cel.expr.conformance.")) throw new NeedsProtobuf(name);
  return objectType(name);
}

/** A `cel.expr.Type`. */
export function specType(json: unknown): Type {
  const [[kind, content] = ["dyn", {}]] = Object.entries(json as Json);
  switch (kind) {
    case "primitive":
      return PRIMITIVES.get(content) as Type;
    case "wellKnown":
      return WELL_KNOWN.get(content) as Type;
    case "wrapper":
      return wrapperType(PRIMITIVES.get(content) as Type);
    case "null":
      return NULL;
    case "dyn":
      return DYN;
    case "messageType":
      return messageType(content as string);
    case "typeParam":
      return typeParam(content as string);
    case "type":
      return typeType(specType(content));
    case "listType":
      return listType(specType((content as Json).elemType ?? {}));
    case "mapType":
      return mapType(specType((content as Json).keyType ?? {}), specType((content as Json).valueType ?? {}));
    case "abstractType": {
      const { name, parameterTypes = [] } = content as { name: string; parameterTypes?: unknown[] };
      return opaqueType(name, ...parameterTypes.map(specType));
    }
    default:
      throw new NeedsProtobuf(kind);
  }
}
