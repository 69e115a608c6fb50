/** Reads HTTP requests from files, as Go decodes them: names in any case, unknown members ignored (spec kyverno.md 6.3). */
import type { Value } from "../../../../cel/index.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Message } from "../message.js";
import { RequestError } from "../request-error.js";
import { HTTP, HTTP_TYPES } from "./types.js";

/** The kinds of members, by name. */
const MEMBERS: Readonly<Record<string, (value: unknown, path: string) => Value>> = {
  method: text,
  header: lists,
  host: text,
  protocol: text,
  contentLength: integer,
  body: bytes,
  scheme: text,
  path: text,
  query: lists,
  fragment: text,
};

/**
 * Reads a request out of JSON.
 * @throws RequestError for a member of the wrong type
 */
export function readHttpRequest(value: unknown): Message {
  if (value === null) return HTTP_TYPES.make(HTTP.request);
  if (!isObject(value))
    throw new RequestError(`json: cannot unmarshal ${kindOf(value)} into Go value of type http.CheckRequest`);
  const request: Record<string, Value> = {};
  for (const [name, member] of Object.entries(value)) {
    const known = name.toLowerCase();
    if (member === null) continue;
    if (known === "attributes") request.attributes = attributesOf(member);
    else if (known === "mcp") throw new RequestError("json: a request with mcp is not read here");
  }
  return HTTP_TYPES.make(HTTP.request, request);
}

function attributesOf(value: unknown): Message {
  if (!isObject(value)) throw mismatch(value, "CheckRequest.attributes", "http.CheckRequestAttributes");
  const attributes: Record<string, Value> = {};
  const names = Object.keys(MEMBERS);
  for (const [written, member] of Object.entries(value)) {
    const name = Object.hasOwn(MEMBERS, written)
      ? written
      : names.find((each) => each.toLowerCase() === written.toLowerCase());
    const read = name === undefined ? undefined : MEMBERS[name];
    if (name !== undefined && read !== undefined && member !== null)
      attributes[name] = read(member, `CheckRequestAttributes.attributes.${name}`);
  }
  return HTTP_TYPES.make(HTTP.attributes, attributes);
}

function text(value: unknown, path: string): Value {
  if (typeof value !== "string") throw mismatch(value, path, "string");
  return value;
}

function integer(value: unknown, path: string): Value {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  const what = typeof value === "object" ? kindOf(value) : `${kindOf(value)} ${value}`;
  throw new RequestError(`json: cannot unmarshal ${what} into Go struct field ${path} of type int64`);
}

/** Octets are written as base64. */
function bytes(value: unknown, path: string): Value {
  if (typeof value !== "string") throw mismatch(value, path, "[]uint8");
  const written = value.replace(/[\r\n]/g, "");
  const padding = /^[A-Za-z0-9+/]*(={0,2})$/.exec(written);
  if (padding === null || written.length % 4 !== 0) {
    const at = written.search(/[^A-Za-z0-9+/]/);
    throw new RequestError(`illegal base64 data at input byte ${at === -1 ? written.length : at}`);
  }
  return new Uint8Array(Buffer.from(written, "base64"));
}

function lists(value: unknown, path: string): Value {
  if (!isObject(value)) throw mismatch(value, path, "map[string][]string");
  const read = Object.entries(value).map(([key, list]): [string, Value] => {
    if (list === null) return [key, []];
    if (!Array.isArray(list)) throw mismatch(list, path, "[]string");
    return [key, list.map((each) => (each === null ? "" : text(each, path)))];
  });
  // fromEntries defines its keys, so that "__proto__" stays a plain one.
  return Object.fromEntries(read);
}

const mismatch = (value: unknown, path: string, type: string): RequestError =>
  new RequestError(`json: cannot unmarshal ${kindOf(value)} into Go struct field ${path} of type ${type}`);

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return typeof value === "number" || typeof value === "bigint" || value instanceof Number ? "number" : "object";
}
