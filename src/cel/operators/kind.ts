/**
 * The run-time kind of a value, and the names that error texts give it (spec kubernetes-cel.md 2.1 and 1.8).
 */

import { Duration, Timestamp } from "../values/time.js";
import { TypeValue } from "../values/type-value.js";
import { Uint } from "../values/uint.js";
import { MapValue, ObjectValue, OpaqueValue, Optional, type Value } from "../values/value.js";

/** The kind of a value at run time. `opaque` and `object` carry their own type name. */
export type Kind =
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "list"
  | "map"
  | "timestamp"
  | "duration"
  | "type"
  | "optional"
  | "opaque"
  | "object";

/** The kind of a value. A value of none of the engine's classes is a map. */
export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return Number.isSafeInteger(value) ? "int" : "double";
    case "bigint":
      return "int";
    case "string":
      return "string";
    default:
      return value === null ? "null" : kindOfObject(value);
  }
}

function kindOfObject(value: object): Kind {
  if (Array.isArray(value)) return "list";
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype === Object.prototype || prototype === null) return "map";
  if (value instanceof Number) return "double";
  if (value instanceof Uint) return "uint";
  if (value instanceof MapValue) return "map";
  if (value instanceof Optional) return "optional";
  if (value instanceof Timestamp) return "timestamp";
  if (value instanceof Duration) return "duration";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof TypeValue) return "type";
  if (value instanceof OpaqueValue) return "opaque";
  if (value instanceof ObjectValue) return "object";
  return "map";
}

const TYPE_NAMES: Readonly<Record<Exclude<Kind, "opaque" | "object">, string>> = {
  null: "null_type",
  bool: "bool",
  int: "int",
  uint: "uint",
  double: "double",
  string: "string",
  bytes: "bytes",
  list: "list",
  map: "map",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  type: "type",
  optional: "optional_type",
};

/** The runtime type name, as `type(x)` yields it and "no such overload: f(KIND)" prints it. */
export function typeNameOf(value: Value): string {
  const kind = kindOf(value);
  if (kind === "opaque" || kind === "object") return (value as OpaqueValue | ObjectValue).typeName;
  return TYPE_NAMES[kind];
}

const NATIVE_NAMES: Readonly<Record<Kind, string>> = {
  null: "types.Null",
  bool: "types.Bool",
  int: "types.Int",
  uint: "types.Uint",
  double: "types.Double",
  string: "types.String",
  bytes: "types.Bytes",
  list: "*types.baseList",
  map: "*types.baseMap",
  timestamp: "types.Timestamp",
  duration: "types.Duration",
  type: "*types.Type",
  optional: "*types.Optional",
  opaque: "types.Opaque",
  object: "types.Object",
};

/** The classes of the values of Kubernetes' libraries, by their types. */
const LIBRARY_NAMES: ReadonlyMap<string, string> = new Map([
  ["kubernetes.Quantity", "cel.Quantity"],
  ["kubernetes.Semver", "cel.Semver"],
  ["kubernetes.URL", "cel.URL"],
  ["kubernetes.NamedFormat", "cel.Format"],
  ["net.IP", "cel.IP"],
  ["net.CIDR", "cel.CIDR"],
  ["kubernetes.authorization.Authorizer", "library.authorizerVal"],
  ["kubernetes.authorization.PathCheck", "library.pathCheckVal"],
  ["kubernetes.authorization.GroupCheck", "library.groupCheckVal"],
  ["kubernetes.authorization.ResourceCheck", "library.resourceCheckVal"],
  ["kubernetes.authorization.Decision", "library.decisionVal"],
]);

/** The reference implementation's own name of a value's class, as some of its errors print it. */
export function nativeNameOf(value: Value): string {
  if (value instanceof OpaqueValue) return LIBRARY_NAMES.get(value.typeName) ?? value.nativeName;
  if (value instanceof ObjectValue) return value.nativeName;
  return NATIVE_NAMES[kindOf(value)];
}

/** The Go type of the parts of a list or map. */
export type Parts = string;
/** The parts of what an expression makes, of data as it was bound, and of a sum of lists, which has a class of its own. */
export const MADE: Parts = "cel.dev/cel-go/common/types/ref.Val";
export const DATA: Parts = "interface {}";
export const CONCATENATED: Parts = "";

/** {@link nativeNameOf} since 1.38, which names the Go type of the parts. */
export function genericNameOf(value: Value, parts: Parts): string {
  if (Array.isArray(value)) return parts === CONCATENATED ? "*types.concatList" : `*types.sliceList[${parts}]`;
  if (isPlainObject(value)) return `*types.nativeMap[string,${parts === MADE ? DATA : parts}]`;
  return value instanceof MapValue ? `*types.nativeMap[${MADE},${MADE}]` : nativeNameOf(value);
}

const GO_NAMES: ReadonlyMap<Kind, string> = new Map([
  ["null", "<nil>"],
  ["bytes", "[]uint8"],
  ["list", "[]interface {}"],
  ["map", "map[string]interface {}"],
  ["timestamp", "time.Time"],
  ["duration", "time.Duration"],
]);

/** The name of a variable's value before the reference has wrapped it in a class of its own. */
export function goNameOf(value: Value): string {
  if (value instanceof ObjectValue) return value.goName;
  return GO_NAMES.get(kindOf(value)) ?? nativeNameOf(value);
}

/** Whether a value is an object with string keys, read in place: what JSON and YAML yield. */
export function isPlainObject(value: unknown): value is { readonly [key: string]: Value } {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

/** The number of a double, whichever way it is represented; `undefined` when the value is not a double. */
export function doubleOf(value: Value): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? undefined : value;
  return value instanceof Number ? value.valueOf() : undefined;
}
