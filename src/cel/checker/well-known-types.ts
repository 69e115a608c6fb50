/** Protobuf's well-known types: message literals of them yield plain values (spec kubernetes-cel.md 2.1). */
import type { Flavour } from "../public-types.js";
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
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  wrapperType,
} from "../types.js";

/** A well-known type: the static type of its literals, and the fields they take. */
export interface WellKnownType {
  readonly type: Type;
  readonly fields: ReadonlyMap<string, Type>;
}

const message = (type: Type, fields: Readonly<Record<string, Type>>): WellKnownType => ({
  type,
  fields: new Map(Object.entries(fields)),
});

const wrapper = (of: Type): WellKnownType => message(wrapperType(of), { value: of });

const JSON_LIST = listType(DYN);
const JSON_OBJECT = mapType(STRING, DYN);
const TIME_FIELDS = { seconds: INT, nanos: INT };

/** Names under which Kubernetes declares types a second time: known to the checker, but not to the evaluator. */
export const SHORT_TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ["duration", DURATION],
  ["timestamp", TIMESTAMP],
]);

/** The messages that are types of values: all others become values of the language's own types, and their names are not types. */
const VALUE_TYPES: ReadonlySet<string> = new Set([
  "google.protobuf.Duration",
  "google.protobuf.Empty",
  "google.protobuf.Timestamp",
]);

/** Whether the checker alone knows a type of this name: it may stand before a message literal's `{`, and is undefined as a value. */
export const isUndefinedAsValue = (name: string, flavour: Flavour): boolean =>
  SHORT_TYPE_NAMES.has(name) ? flavour === "kubernetes" : WELL_KNOWN_TYPES.has(name) && !VALUE_TYPES.has(name);

/** The only enum constant there is, `google.protobuf.NullValue.NULL_VALUE`, an int. */
export const NULL_VALUE = "google.protobuf.NullValue.NULL_VALUE";

/** The message whose fields a literal of this type takes; `undefined` when it is not a message. */
export function wellKnownName(type: Type): string | undefined {
  switch (type.kind) {
    case "any":
      return "google.protobuf.Any";
    case "dyn":
      return "google.protobuf.Value";
    case "null":
      return "google.protobuf.NullValue";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "list":
      return type.element.kind === "dyn" ? "google.protobuf.ListValue" : undefined;
    case "map":
      return type.key.kind === "string" && type.value.kind === "dyn" ? "google.protobuf.Struct" : undefined;
    case "wrapper":
      return WRAPPER_NAMES.get(type.of.kind);
    default:
      return undefined;
  }
}

/** The wrapper message of a scalar; those of both widths are one type to the checker. */
const WRAPPER_NAMES: ReadonlyMap<string, string> = new Map([
  ["bool", "google.protobuf.BoolValue"],
  ["bytes", "google.protobuf.BytesValue"],
  ["double", "google.protobuf.DoubleValue"],
  ["int", "google.protobuf.Int64Value"],
  ["string", "google.protobuf.StringValue"],
  ["uint", "google.protobuf.UInt64Value"],
]);

/** The well-known types by full name. */
export const WELL_KNOWN_TYPES: ReadonlyMap<string, WellKnownType> = new Map([
  ["google.protobuf.Any", message(ANY, { type_url: STRING, value: BYTES })],
  ["google.protobuf.Empty", message(objectType("google.protobuf.Empty"), {})],
  ["google.protobuf.BoolValue", wrapper(BOOL)],
  ["google.protobuf.BytesValue", wrapper(BYTES)],
  ["google.protobuf.DoubleValue", wrapper(DOUBLE)],
  ["google.protobuf.FloatValue", wrapper(DOUBLE)],
  ["google.protobuf.Int32Value", wrapper(INT)],
  ["google.protobuf.Int64Value", wrapper(INT)],
  ["google.protobuf.StringValue", wrapper(STRING)],
  ["google.protobuf.UInt32Value", wrapper(UINT)],
  ["google.protobuf.UInt64Value", wrapper(UINT)],
  ["google.protobuf.Duration", message(DURATION, TIME_FIELDS)],
  ["google.protobuf.Timestamp", message(TIMESTAMP, TIME_FIELDS)],
  ["google.protobuf.ListValue", message(JSON_LIST, { values: JSON_LIST })],
  ["google.protobuf.Struct", message(JSON_OBJECT, { fields: JSON_OBJECT })],
  [
    "google.protobuf.Value",
    message(DYN, {
      null_value: INT,
      number_value: DOUBLE,
      string_value: STRING,
      bool_value: BOOL,
      struct_value: JSON_OBJECT,
      list_value: JSON_LIST,
    }),
  ],
]);
