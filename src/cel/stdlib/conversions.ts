/** Conversions and the functions on types (spec kubernetes-cel.md 3.2). */
import type { Library } from "../declarations.js";
import { fn, overload } from "../declare.js";
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
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  typeType,
  UINT,
} from "../types.js";

const A = typeParam("A");

/** The types that are identifiers, as values of type `type`. */
const typeNames: ReadonlyMap<string, Type> = new Map<string, Type>([
  ["bool", BOOL],
  ["bytes", BYTES],
  ["double", DOUBLE],
  ["google.protobuf.Duration", DURATION],
  ["int", INT],
  ["list", listType(DYN)],
  ["map", mapType(DYN, DYN)],
  ["null_type", NULL],
  ["string", STRING],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["type", typeType()],
  ["uint", UINT],
  ["optional_type", optionalType(DYN)],
]);

/** Conversions between kinds, `type` and `dyn`, and the names of the built-in types. */
export const conversionLibrary: Library = {
  name: "conversions",
  typeNames,
  functions: [
    fn("type", overload("type", [A], typeType(A))),
    fn("dyn", overload("to_dyn", [A], DYN)),
    fn("bool", overload("bool_to_bool", [BOOL], BOOL), overload("string_to_bool", [STRING], BOOL)),
    fn("bytes", overload("bytes_to_bytes", [BYTES], BYTES), overload("string_to_bytes", [STRING], BYTES)),
    fn(
      "double",
      overload("double_to_double", [DOUBLE], DOUBLE),
      overload("int64_to_double", [INT], DOUBLE),
      overload("string_to_double", [STRING], DOUBLE),
      overload("uint64_to_double", [UINT], DOUBLE),
    ),
    fn(
      "duration",
      overload("duration_to_duration", [DURATION], DURATION),
      overload("string_to_duration", [STRING], DURATION),
    ),
    fn(
      "int",
      overload("int64_to_int64", [INT], INT),
      overload("double_to_int64", [DOUBLE], INT),
      overload("duration_to_int64", [DURATION], INT),
      overload("string_to_int64", [STRING], INT),
      overload("timestamp_to_int64", [TIMESTAMP], INT),
      overload("uint64_to_int64", [UINT], INT),
    ),
    fn(
      "string",
      overload("string_to_string", [STRING], STRING),
      overload("bool_to_string", [BOOL], STRING),
      overload("bytes_to_string", [BYTES], STRING),
      overload("double_to_string", [DOUBLE], STRING),
      overload("duration_to_string", [DURATION], STRING),
      overload("int64_to_string", [INT], STRING),
      overload("timestamp_to_string", [TIMESTAMP], STRING),
      overload("uint64_to_string", [UINT], STRING),
    ),
    fn(
      "timestamp",
      overload("timestamp_to_timestamp", [TIMESTAMP], TIMESTAMP),
      overload("int64_to_timestamp", [INT], TIMESTAMP),
      overload("string_to_timestamp", [STRING], TIMESTAMP),
    ),
    fn(
      "uint",
      overload("uint64_to_uint64", [UINT], UINT),
      overload("double_to_uint64", [DOUBLE], UINT),
      overload("int64_to_uint64", [INT], UINT),
      overload("string_to_uint64", [STRING], UINT),
    ),
  ],
};
