/** The functions of Envoy mode, which build an answer step by step (spec kyverno.md 6.3). */
import {
  BOOL,
  CelError,
  DYN,
  type FunctionDeclaration,
  fn,
  INT,
  mapType,
  method,
  objectType,
  overload,
  STRING,
  type Type,
  type Value,
} from "../../../../cel/index.js";
import type { Message } from "../message.js";
import { ENVOY, ENVOY_TYPES } from "./types.js";

const OK = objectType(ENVOY.ok);
const DENIED = objectType(ENVOY.denied);
const HEADER = objectType(ENVOY.header);
const PARAMETER = objectType(ENVOY.queryParameter);
const RESPONSE = objectType(ENVOY.response);

/** The greatest status, an int32. */
const MOST_STATUS = 2 ** 31 - 1;
/** gRPC's code for a denied permission. */
const PERMISSION_DENIED = 7;

const header = (key: string, value: string): Message =>
  ENVOY_TYPES.make(ENVOY.header, { header: ENVOY_TYPES.make(ENVOY.headerValue, { key, value }) });

const parameter = (key: string, value: string): Message => ENVOY_TYPES.make(ENVOY.queryParameter, { key, value });

function denied(code: Value): Message | CelError {
  if (typeof code !== "number" || Math.abs(code) > MOST_STATUS) return new CelError("integer overflow", "overflow");
  return ENVOY_TYPES.make(ENVOY.denied, { status: ENVOY_TYPES.make(ENVOY.httpStatus, { code }) });
}

const response = (field: string, value: Message, code: number): Message =>
  ENVOY_TYPES.make(ENVOY.response, { status: ENVOY_TYPES.make(ENVOY.status, { code }), [field]: value });

const withMessage = (answer: Message, message: string): Message => {
  const status = answer.message("status") ?? ENVOY_TYPES.make(ENVOY.status);
  return answer.with("status", status.with("message", message));
};

/** A function that adds an item to a list, given as it is or as key and value. */
const adding = (id: string, receiver: Type, of: Type, field: string, make: (key: string, value: string) => Message) => [
  method(`${id}_${of === HEADER ? "header" : "param"}`, [receiver, of], receiver, (to: Message, each: Message) =>
    to.adding(field, each),
  ),
  method(`${id}_string_string`, [receiver, STRING, STRING], receiver, (to: Message, key: string, value: string) =>
    to.adding(field, make(key, value)),
  ),
];

/** A function that adds a name to a list. */
const naming = (id: string, field: string) =>
  method(id, [OK, STRING], OK, (to: Message, name: string) => to.adding(field, name));

/** `envoy.…`, and the methods of their results. */
export const ENVOY_FUNCTIONS: readonly FunctionDeclaration[] = [
  fn(
    "envoy.Allowed",
    overload("allowed", [], OK, () => ENVOY_TYPES.make(ENVOY.ok)),
  ),
  fn("envoy.Denied", overload("denied", [INT], DENIED, denied)),
  fn("envoy.Header", overload("header_key_value", [STRING, STRING], HEADER, header)),
  fn("envoy.QueryParam", overload("queryparam_key_value", [STRING, STRING], PARAMETER, parameter)),
  fn(
    "WithBody",
    method("denied_with_body", [DENIED, STRING], DENIED, (to: Message, body: string) => to.with("body", body)),
  ),
  fn(
    "WithHeader",
    ...adding("ok_with_header", OK, HEADER, "headers", header),
    ...adding("denied_with_header", DENIED, HEADER, "headers", header),
  ),
  fn("WithoutHeader", naming("ok_without_header", "headers_to_remove")),
  fn("WithResponseHeader", ...adding("ok_with_response_header", OK, HEADER, "response_headers_to_add", header)),
  fn("WithQueryParam", ...adding("ok_with_queryparam", OK, PARAMETER, "query_parameters_to_set", parameter)),
  fn("WithoutQueryParam", naming("ok_without_queryparam_string", "query_parameters_to_remove")),
  fn(
    "KeepEmptyValue",
    method("header_keep_empty_value", [HEADER], HEADER, (of: Message) => of.with("keep_empty_value", true)),
    method("header_keep_empty_value_bool", [HEADER, BOOL], HEADER, (of: Message, keep: boolean) =>
      of.with("keep_empty_value", keep),
    ),
  ),
  fn(
    "Response",
    method("ok_response", [OK], RESPONSE, (ok: Message) => response("ok_response", ok, 0)),
    method("denied_response", [DENIED], RESPONSE, (refused: Message) =>
      response("denied_response", refused, PERMISSION_DENIED),
    ),
  ),
  fn("WithMessage", method("response_ok_with_message", [RESPONSE, STRING], RESPONSE, withMessage)),
  fn(
    "WithMetadata",
    method("response_ok_with_metadata", [RESPONSE, mapType(STRING, DYN)], RESPONSE, (to: Message, metadata: Value) =>
      to.with("dynamic_metadata", metadata),
    ),
  ),
];
