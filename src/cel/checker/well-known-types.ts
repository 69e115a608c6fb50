/** Protobuf's well-known types: message literals of them yield plain values (spec kubernetes-cel.md 2.1). */
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

/** The well-known types by full name. */
export const WELL_KNOWN_TYPES: ReadonlyMap<string, WellKnownType> = new Map([
  ["google.protobuf.Any", message(ANY, { type_url: STRING, value: BYTES })],
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
      null_value: NULL,
      number_value: DOUBLE,
      string_value: STRING,
      bool_value: BOOL,
      struct_value: JSON_OBJECT,
      list_value: JSON_LIST,
    }),
  ],
]);
