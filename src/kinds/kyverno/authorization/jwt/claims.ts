/** What a token says, and whether it holds at a time (RFC 7519 4.1). */
import { parseTimestamp, Timestamp } from "../../../../cel/index.js";
import { withDoubles } from "../../../../data/doubles.js";
import type { JsonObject } from "../../../../kubernetes/object.js";

/** The claims as expressions see them. */
export interface Claims {
  /** Numbers are doubles, times whole seconds since 1970. */
  readonly values: JsonObject;
  /** Whether the token was issued already, is valid already, and has not expired. */
  readonly valid: boolean;
}

/** Claims that are texts. */
const TEXTS = ["iss", "sub", "jti"];
/** Claims that are times. */
const TIMES = ["exp", "nbf", "iat"];

/**
 * The claims of a token; a text says what is wrong with them.
 * @param now milliseconds since 1970
 */
export function claimsOf(claims: JsonObject, now: number): Claims | string {
  const values: [string, unknown][] = [];
  const times = new Map<string, number>();
  for (const [name, value] of Object.entries(claims)) {
    if (TIMES.includes(name)) {
      const seconds = numericDate(value);
      if (typeof seconds === "string") return `${decoding(name)}invalid value for NumericDate: ${seconds}`;
      times.set(name, seconds);
      values.push([name, withDoubles(seconds)]);
    } else if (TEXTS.includes(name) && typeof value !== "string") {
      return `${decoding(name)}error reading next value: json: cannot unmarshal ${nameOf(value)} into Go value of type string`;
    } else if (name === "aud") {
      // The reference has no place for a list of texts among the claims, and an audience is one there.
      return "proto: invalid type: []string";
    } else if (value === null) {
      return "failed to assign value to dst: source value is invalid (<nil>): invalid value (probably an untyped nil)";
    } else values.push([name, withDoubles(value)]);
  }
  const second = Math.floor(now / 1000);
  const valid =
    second >= (times.get("iat") ?? Number.NEGATIVE_INFINITY) &&
    second < (times.get("exp") ?? Number.POSITIVE_INFINITY) &&
    second >= (times.get("nbf") ?? Number.NEGATIVE_INFINITY);
  // fromEntries defines its keys, so that "__proto__" stays a plain one.
  return { values: Object.fromEntries(values), valid };
}

const decoding = (name: string): string =>
  `jwt.Parse: failed to parse token: failed to parse token: failed to decode value for key ${name}: `;

/** Seconds since 1970, without their fraction; a text says why it is no time. */
function numericDate(value: unknown): number | string {
  if (typeof value === "number" || typeof value === "bigint" || value instanceof Number) {
    const seconds = Math.trunc(Number(value));
    return seconds >= 0 && seconds < 2 ** 63 ? seconds : `failed to accept float32 ${String(value)}`;
  }
  if (typeof value !== "string") return `invalid type ${typeof value === "boolean" ? "bool" : nameOf(value)}`;
  if (/^\d{1,18}(\.\d*)?$/.test(value)) return Math.trunc(Number(value));
  const time = parseTimestamp(value);
  if (time instanceof Timestamp) return time.seconds;
  return `failed to accept string ${JSON.stringify(value)}: value is not number of seconds since the epoch, and attempt to parse it as RFC3339 timestamp failed`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "object" && !(value instanceof Number) ? "object" : "number";
}
