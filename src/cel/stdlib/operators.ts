/**
 * The overloads of the operators (spec kubernetes-cel.md 1.5 and 2.2 to 2.6), for the checker and the cost rules.
 * They carry no implementation: the compiler builds operators itself.
 */
import type { FunctionDeclaration, Library, Overload } from "../declarations.js";
import { fn, overload, overloadFn } from "../declare.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  optionalType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  UINT,
} from "../types.js";

const A = typeParam("A");
const B = typeParam("B");
const K = typeParam("K");
const V = typeParam("V");

/** The same-type and cross-type overloads of one ordering operator: `less` gives `less_int64_double` and its siblings. */
function ordering(prefix: string): readonly Overload[] {
  const pairs: readonly (readonly [string, Type, Type])[] = [
    ["bool", BOOL, BOOL],
    ["int64", INT, INT],
    ["int64_double", INT, DOUBLE],
    ["int64_uint64", INT, UINT],
    ["uint64", UINT, UINT],
    ["uint64_double", UINT, DOUBLE],
    ["uint64_int64", UINT, INT],
    ["double", DOUBLE, DOUBLE],
    ["double_int64", DOUBLE, INT],
    ["double_uint64", DOUBLE, UINT],
    ["string", STRING, STRING],
    ["bytes", BYTES, BYTES],
    ["timestamp", TIMESTAMP, TIMESTAMP],
    ["duration", DURATION, DURATION],
  ];
  return pairs.map(([suffix, left, right]) => overload(`${prefix}_${suffix}`, [left, right], BOOL));
}

/** `in` under one of its names; only `@in` can be written, the others are the reference's older spellings. */
const membership = (name: string): FunctionDeclaration =>
  fn(name, overload("in_list", [A, listType(A)], BOOL), overload("in_map", [A, mapType(A, B)], BOOL));

const logic = [
  overloadFn("_?_:_", "conditional", [BOOL, A, A], A),
  overloadFn("_&&_", "logical_and", [BOOL, BOOL], BOOL),
  overloadFn("_||_", "logical_or", [BOOL, BOOL], BOOL),
  overloadFn("!_", "logical_not", [BOOL], BOOL),
  overloadFn("@not_strictly_false", "not_strictly_false", [BOOL], BOOL),
  overloadFn("__not_strictly_false__", "__not_strictly_false__", [BOOL], BOOL),
];

const comparison = [
  overloadFn("_==_", "equals", [A, A], BOOL),
  overloadFn("_!=_", "not_equals", [A, A], BOOL),
  fn("_<_", ...ordering("less")),
  fn("_<=_", ...ordering("less_equals")),
  fn("_>_", ...ordering("greater")),
  fn("_>=_", ...ordering("greater_equals")),
  membership("@in"),
  membership("_in_"),
  membership("in"),
];

const arithmetic = [
  fn(
    "_+_",
    overload("add_bytes", [BYTES, BYTES], BYTES),
    overload("add_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("add_duration_duration", [DURATION, DURATION], DURATION),
    overload("add_duration_timestamp", [DURATION, TIMESTAMP], TIMESTAMP),
    overload("add_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("add_int64", [INT, INT], INT),
    overload("add_list", [listType(A), listType(A)], listType(A)),
    overload("add_string", [STRING, STRING], STRING),
    overload("add_uint64", [UINT, UINT], UINT),
  ),
  fn(
    "_-_",
    overload("subtract_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("subtract_duration_duration", [DURATION, DURATION], DURATION),
    overload("subtract_int64", [INT, INT], INT),
    overload("subtract_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("subtract_timestamp_timestamp", [TIMESTAMP, TIMESTAMP], DURATION),
    overload("subtract_uint64", [UINT, UINT], UINT),
  ),
  fn(
    "_*_",
    overload("multiply_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("multiply_int64", [INT, INT], INT),
    overload("multiply_uint64", [UINT, UINT], UINT),
  ),
  fn(
    "_/_",
    overload("divide_double", [DOUBLE, DOUBLE], DOUBLE),
    overload("divide_int64", [INT, INT], INT),
    overload("divide_uint64", [UINT, UINT], UINT),
  ),
  fn("_%_", overload("modulo_int64", [INT, INT], INT), overload("modulo_uint64", [UINT, UINT], UINT)),
  fn("-_", overload("negate_double", [DOUBLE], DOUBLE), overload("negate_int64", [INT], INT)),
];

const access = [
  fn(
    "_[_]",
    overload("index_list", [listType(A), INT], A),
    overload("index_map", [mapType(A, B), A], B),
    overload("optional_list_index_int", [optionalType(listType(V)), INT], optionalType(V)),
    overload("optional_map_index_value", [optionalType(mapType(K, V)), K], optionalType(V)),
  ),
  fn(
    "_[?_]",
    overload("list_optindex_optional_int", [listType(V), INT], optionalType(V)),
    overload("optional_list_optindex_optional_int", [optionalType(listType(V)), INT], optionalType(V)),
    overload("map_optindex_optional_value", [mapType(K, V), K], optionalType(V)),
    overload("optional_map_optindex_optional_value", [optionalType(mapType(K, V)), K], optionalType(V)),
  ),
  overloadFn("_?._", "select_optional_field", [DYN, STRING], optionalType(V)),
];

/** The operators' declarations. */
export const operatorLibrary: Library = {
  name: "operators",
  functions: [...logic, ...comparison, ...arithmetic, ...access],
};

/** The operators of an environment without optional values. */
export const operatorsWithoutOptionals: Library = {
  name: "operators",
  functions: operatorLibrary.functions
    .map((each) => ({
      ...each,
      overloads: each.overloads.filter(({ id }) => !/^optional_|opt(index|ional)_/.test(id)),
    }))
    .filter(({ overloads }) => overloads.length > 0),
};
