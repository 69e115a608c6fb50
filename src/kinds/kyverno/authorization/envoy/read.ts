/** Reads Envoy's checks from files: Protocol Buffers' JSON, with names as they are defined or in camel case (spec kyverno.md 6.3). */
import { parseTimestamp, Timestamp, type Type, uintOf, type Value } from "../../../../cel/index.js";
import { withDoubles } from "../../../../data/doubles.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Message } from "../message.js";
import { RequestError } from "../request-error.js";
import { ENVOY, ENVOY_ENUMS, ENVOY_TYPES } from "./types.js";

/**
 * Reads a request out of JSON.
 * @throws RequestError for a field that is unknown or of the wrong type
 */
export const readEnvoyRequest = (value: unknown): Message => messageOf(ENVOY.request, value);

function messageOf(typeName: string, value: unknown): Message {
  if (!isObject(value))
    throw new RequestError(`proto: unexpected token ${JSON.stringify(value)}: ${typeName} is a message`);
  const types = ENVOY_TYPES.fields(typeName) ?? new Map<string, Type>();
  const byJsonName = new Map([...types.keys()].map((name) => [jsonName(name), name]));
  const values: Record<string, Value> = {};
  for (const [written, member] of Object.entries(value)) {
    const name = types.has(written) ? written : byJsonName.get(written);
    const type = name === undefined ? undefined : types.get(name);
    if (name === undefined || type === undefined)
      throw new RequestError(`proto: unknown field ${JSON.stringify(written)}`);
    if (Object.hasOwn(values, name)) throw new RequestError(`proto: duplicate field ${JSON.stringify(written)}`);
    if (member !== null) values[name] = fieldOf(name, type, member);
  }
  return ENVOY_TYPES.make(typeName, values);
}

const jsonName = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function fieldOf(name: string, type: Type, value: unknown): Value {
  switch (type.kind) {
    case "object":
      return messageOf(type.name, value);
    case "string":
      if (typeof value !== "string") throw invalid("string", name, value);
      return value;
    case "bool":
      if (typeof value !== "boolean") throw invalid("bool", name, value);
      return value;
    case "int":
      return integer(name, ENVOY_ENUMS[name], value);
    case "uint": {
      const read = integer(name, undefined, value);
      if (typeof read !== "number" || read < 0 || read >= 2 ** 32) throw invalid("uint32", name, value);
      return uintOf(read);
    }
    case "bytes":
      return bytes(name, value);
    case "timestamp": {
      const read = typeof value === "string" ? parseTimestamp(value) : undefined;
      if (!(read instanceof Timestamp)) throw invalid("google.protobuf.Timestamp", name, value);
      return read;
    }
    case "list":
      if (!Array.isArray(value)) throw invalid("repeated", name, value);
      return value.map((each) => fieldOf(name, type.element, each));
    case "map":
      if (!isObject(value)) throw invalid("map", name, value);
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, entryOf(name, type.value, each)]));
    default:
      throw new RequestError(`proto: the field ${JSON.stringify(name)} is not read here`);
  }
}

/** A value of a map: a text, or any JSON object, whose numbers are doubles. */
function entryOf(name: string, type: Type, value: unknown): Value {
  if (type.kind !== "map") return fieldOf("value", type, value);
  if (!isObject(value)) throw invalid("google.protobuf.Struct", name, value);
  return withDoubles(value) as Value;
}

/** Integers may be written as texts, and enums as names. */
function integer(name: string, names: readonly string[] | undefined, value: unknown): Value {
  const known = typeof value === "string" ? (names?.indexOf(value) ?? -1) : -1;
  if (known >= 0) return known;
  const read = typeof value === "string" && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value;
  const small = typeof read === "bigint" && Number.isSafeInteger(Number(read)) ? Number(read) : read;
  if (typeof small === "number" && Number.isSafeInteger(small)) return small;
  if (typeof small === "bigint" && BigInt.asIntN(64, small) === small) return small;
  throw invalid("int64", name, value);
}

/** Either alphabet of base64, with padding or without. */
function bytes(name: string, value: unknown): Value {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw invalid("bytes", name, value);
  return new Uint8Array(Buffer.from(value, "base64"));
}

const invalid = (type: string, name: string, value: unknown): RequestError =>
  new RequestError(`proto: invalid value for ${type} field ${name}: ${JSON.stringify(value, printed)}`);

const printed = (_: string, value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);
