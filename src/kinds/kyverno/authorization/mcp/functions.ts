/** `mcp.Parse`, and functions that read arguments of the request, with a default for those that are absent or of another type (spec kyverno.md 6.3). */
import {
  BOOL,
  CelError,
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
  type Result,
  STRING,
  type Type,
  type Value,
} from "../../../../cel/index.js";
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";
import { growing, methodOf } from "../../libraries/declare.js";
import { JSON_FUNCTIONS } from "../../libraries/json.js";
import type { Message } from "../message.js";
import { MCP, MCP_HELPER_TYPE, MCP_TYPES } from "./types.js";

// `mcp.Parse`: reads a request of the Model Context Protocol from its JSON (spec kyverno.md 6.3).

/** Reads JSON within the limits of `json.unmarshal`; numbers are doubles. */
const unmarshal = JSON_FUNCTIONS.find(({ name }) => name === "unmarshal")?.overloads[0]?.implementation;

/** Reads the request; parameters of the wrong type are errors. */
function parseMcp(helper: Value, text: Value): Result {
  const value = unmarshal?.(helper, text) ?? null;
  if (value instanceof CelError) return value;
  if (!isObject(value)) return unfit("the request", "an object");
  const { method: Method = "", params = {} } = value;
  if (typeof Method !== "string") return unfit("method", "a string");
  if (params !== null && !isObject(params)) return unfit("params", "an object");
  const parameters = paramsOf(Method, params ?? {});
  return parameters instanceof CelError ? parameters : MCP_TYPES.make(MCP.request, { Method, ...parameters });
}

function paramsOf(method: string, params: JsonObject): Readonly<Record<string, Value>> | CelError {
  const { name: Name = "", uri: URI = "", arguments: given = null } = params;
  if (typeof Name !== "string" || typeof URI !== "string") return unfit("name and uri", "strings");
  const Arguments = given as Value;
  const some = Arguments === null ? {} : { Arguments };
  switch (method) {
    case "tools/call":
      return { ToolCall: MCP_TYPES.make(MCP.toolCall, { Name, ...some }) };
    case "resources/read":
      if (given !== null && !isObject(given)) return unfit("arguments", "an object");
      return { ResourceRead: MCP_TYPES.make(MCP.resourceRead, { URI, ...some }) };
    case "prompts/get":
      if (given !== null && !(isObject(given) && Object.values(given).every((each) => typeof each === "string")))
        return unfit("arguments", "an object of strings");
      return { PromptGet: MCP_TYPES.make(MCP.promptGet, { Name, ...some }) };
    default:
      return {};
  }
}

const unfit = (what: string, wanted: string): CelError => new CelError(`json: ${what} must be ${wanted}`);

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

/** Converts an argument to a type; `undefined` where it does not fit. */
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

/** A list, without items of another type. */
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
