/** `mcp.Parse`, and arguments of what was asked for, with a value in place of those that are absent or of another type (spec kyverno.md 6.3). */
import {
  BOOL,
  type CelError,
  DOUBLE,
  DYN,
  doubleOf,
  type FunctionDeclaration,
  fn,
  INT,
  listType,
  makeDouble,
  method,
  noSuchOverload,
  OpaqueValue,
  objectType,
  STRING,
  type Type,
  type Value,
} from "../../../../cel/index.js";
import { isObject } from "../../../../kubernetes/object.js";
import { growing, methodOf } from "../../libraries/declare.js";
import type { Message } from "../message.js";
import { parseMcp } from "./parse.js";
import { MCP, MCP_HELPER_TYPE } from "./types.js";

/** The helper object, whose method `Parse` is. */
class McpHelper extends OpaqueValue {
  readonly typeName = "mcp.MCP";

  equals(other: Value): boolean | CelError {
    return other === this ? true : noSuchOverload();
  }

  toString(): string {
    return "mcp";
  }
}

/** The value of the variable `mcp`. */
export const MCP_HELPER: OpaqueValue = new McpHelper();

/** The argument as a value of a type; `undefined` where it is none. */
type Convert = (value: Value) => Value | undefined;

const TRUE: ReadonlySet<Value> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<Value> = new Set(["0", "f", "F", "FALSE", "false", "False"]);
const WHOLE = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

const text: Convert = (value) => (typeof value === "string" ? value : undefined);

function integer(value: Value): Value | undefined {
  const number = typeof value === "string" ? (WHOLE.test(value) ? Number(value) : undefined) : doubleOf(value);
  const whole = number === undefined ? undefined : Math.trunc(number) + 0;
  return whole !== undefined && Number.isSafeInteger(whole) ? whole : undefined;
}

function double(value: Value): Value | undefined {
  const number = typeof value === "string" ? (NUMBER.test(value) ? Number(value) : undefined) : doubleOf(value);
  return number === undefined ? undefined : makeDouble(number);
}

function bool(value: Value): Value | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") {
    const number = doubleOf(value);
    return number === undefined ? undefined : number !== 0;
  }
  return TRUE.has(value) ? true : FALSE.has(value) ? false : undefined;
}

/** Items of another type are left out. */
const listOf =
  (convert: Convert): Convert =>
  (value) =>
    Array.isArray(value)
      ? value.flatMap((item: Value) => {
          const converted = convert(item);
          return converted === undefined ? [] : [converted];
        })
      : undefined;

function argument(request: Message, key: string): Value | undefined {
  for (const field of ["ToolCall", "ResourceRead", "PromptGet"]) {
    const given = request.message(field)?.values.get("Arguments");
    if (isObject(given)) return Object.hasOwn(given, key) ? (given[key] as Value) : undefined;
  }
  return undefined;
}

const REQUEST = objectType(MCP.request);

function getter(name: string, id: string, type: Type, convert: Convert): FunctionDeclaration {
  const get = (request: Message, key: string, otherwise: Value): Value => {
    const given = argument(request, key);
    return (given === undefined ? undefined : convert(given)) ?? otherwise;
  };
  return fn(name, method(id, [REQUEST, STRING, type], type, get));
}

/** The functions. */
export const MCP_FUNCTIONS: readonly FunctionDeclaration[] = [
  methodOf("Parse", "mcp_parse_bytes_dyn", [MCP_HELPER_TYPE, DYN], REQUEST, parseMcp, growing(40)),
  getter("GetStringArgument", "mcp_get_string", STRING, text),
  getter("GetIntArgument", "mcp_get_int", INT, integer),
  getter("GetFloatArgument", "mcp_get_float", DOUBLE, double),
  getter("GetBoolArgument", "mcp_get_bool", BOOL, bool),
  getter("GetStringSliceArgument", "mcp_get_string_slice", listType(STRING), listOf(text)),
  getter("GetIntSliceArgument", "mcp_get_int_slice", listType(INT), listOf(integer)),
  getter("GetFloatSliceArgument", "mcp_get_float_slice", listType(DOUBLE), listOf(double)),
  getter("GetBoolSliceArgument", "mcp_get_bool_slice", listType(BOOL), listOf(bool)),
];
