import { MapValue } from "./map-value.js";
import { Optional } from "./optional.js";
import { Duration, Timestamp } from "./time.js";
import { TypeValue } from "./type-value.js";
import { Uint } from "./uint.js";
import { ObjectValue, OpaqueValue, type Value } from "./value.js";

/** A map as JSON has it: read in place. */
export type PlainMap = { readonly [key: string]: Value };

/** The runtime type name of a value, as `type(x)` and error messages have it (spec kubernetes-cel.md 2.1). */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return Number.isSafeInteger(value) ? "int" : "double";
    case "bigint":
      return "int";
    case "boolean":
      return "bool";
    default:
      return typeNameOfObject(value);
  }
}

function typeNameOfObject(value: Value): string {
  if (value === null) return "null_type";
  if (Array.isArray(value)) return "list";
  if (value instanceof Number) return "double";
  if (value instanceof Uint) return "uint";
  if (value instanceof MapValue) return "map";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof TypeValue) return "type";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof OpaqueValue || value instanceof ObjectValue) return value.typeName;
  return "map";
}

/** Whether the value is a list. */
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Whether the value is a map made by JSON: a plain object, and none of the classes of values. */
export const isPlainMap = (value: Value): value is PlainMap =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof MapValue) &&
  typeNameOfObject(value) === "map" &&
  !(value instanceof ObjectValue);

/** The first entry of a map, `undefined` when it is empty or no map. */
export function firstEntry(value: Value): readonly [Value, Value] | undefined {
  if (value instanceof MapValue) {
    for (const entry of value.entries()) return entry;
    return undefined;
  }
  if (isPlainMap(value)) for (const key in value) return [key, value[key] as Value];
  return undefined;
}
