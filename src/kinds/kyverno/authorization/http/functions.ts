/** The functions of HTTP mode (spec kyverno.md 6.3). */
import {
  type FunctionDeclaration,
  fn,
  listType,
  method,
  objectType,
  overload,
  STRING,
  type Value,
} from "../../../../cel/index.js";
import type { Message } from "../message.js";
import { HTTP, HTTP_TYPES } from "./types.js";

const ATTRIBUTES = objectType(HTTP.attributes);
const OK = objectType(HTTP.ok);
const DENIED = objectType(HTTP.denied);
const RESPONSE = objectType(HTTP.response);
const TEXTS = listType(STRING);

/** The characters of a header's name; any other leaves a name as it is written. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** A header's name as Go's servers write it. */
export function canonicalHeader(name: string): string {
  if (!TOKEN.test(name)) return name;
  return name
    .toLowerCase()
    .replace(/(^|-)([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase());
}

/** The values of a member, which is a map of lists; none where it does not have the key. */
function valuesOf(attributes: Message, field: string, key: string): Value {
  const lists = attributes.values.get(field) as Readonly<Record<string, Value>> | undefined;
  return lists !== undefined && Object.hasOwn(lists, key) ? (lists[key] ?? []) : [];
}

/** `http.Allowed`, `http.Denied`, `Response`, `Header`, `QueryParam`. */
export const HTTP_FUNCTIONS: readonly FunctionDeclaration[] = [
  fn(
    "http.Allowed",
    overload("http_allowed", [], OK, () => HTTP_TYPES.make(HTTP.ok)),
  ),
  fn(
    "http.Denied",
    overload("http_denied_string", [STRING], DENIED, (reason: string) => HTTP_TYPES.make(HTTP.denied, { reason })),
  ),
  fn(
    "Response",
    method("http_response_ok", [OK], RESPONSE, (ok: Message) => HTTP_TYPES.make(HTTP.response, { ok })),
    method("http_response_denied", [DENIED], RESPONSE, (denied: Message) => HTTP_TYPES.make(HTTP.response, { denied })),
  ),
  fn(
    "Header",
    method("http_get_header_string", [ATTRIBUTES, STRING], TEXTS, (attributes: Message, name: string) =>
      valuesOf(attributes, "header", canonicalHeader(name)),
    ),
  ),
  fn(
    "QueryParam",
    method("http_get_queryparam_string", [ATTRIBUTES, STRING], TEXTS, (attributes: Message, name: string) =>
      valuesOf(attributes, "query", name),
    ),
  ),
];
