/** `jwt.Decode` (spec kyverno.md 6.3). */

import { createHmac, timingSafeEqual } from "node:crypto";
import {
  BOOL,
  CelError,
  DYN,
  type FunctionDeclaration,
  mapType,
  objectType,
  parseTimestamp,
  type Result,
  STRING,
  Timestamp,
  type Value,
} from "../../../../cel/index.js";
import { withDoubles } from "../../../../data/doubles.js";
import { parseJson } from "../../../../data/json.js";
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";
import type { KyvernoState } from "../../state.js";
import { MessageTypes } from "../message.js";

// JSON Web Tokens signed with a secret (spec kyverno.md 6.3): RFC 7515 in its compact form, RFC 7518's HMAC algorithms.

/** A token whose signature is right. */
interface VerifiedToken {
  /** The claims, valid or not. */
  readonly claims: JsonObject;
}

/** Most characters of a token: more than servers accept as all headers of a request together, and little work. */
const LONGEST_TOKEN = 256 * 1024;

const DIGESTS: Readonly<Record<string, string>> = { HS256: "sha256", HS384: "sha384", HS512: "sha512" };

const NO_TOKEN = "unknown payload type (payload is not JWT?)";
const VERIFY = "jws.Verify: could not verify message using any of the signatures or keys: jws.Verify: ";
const NO_KEYS = "\njws.Verify: signature #1: no matching keys were provided by any key provider";
const WRONG = `${VERIFY}failed to verify signature #1 with key *jwk.symmetricKey: invalid HMAC signature\njws.Verify: signature #1: tried 1 key(s) but none verified successfully`;

/** Reads a token and verifies it; a text is the error, in the words of the reference's library. */
function verifiedToken(token: string, key: string): VerifiedToken | string {
  if (key === "") return "failed to initialize *jwk.symmetricKey from []uint8: non-empty []byte key required";
  const verified = verify(token, key);
  return typeof verified === "string" ? `jwt.Parse: failed to parse token: ${verified}` : verified;
}

function verify(token: string, key: string): VerifiedToken | string {
  if (token.length > LONGEST_TOKEN) return `a token has at most ${LONGEST_TOKEN} characters`;
  const [head, body, signature, ...more] = token.trim().split(".");
  if (head === undefined || body === undefined || signature === undefined || more.length > 0) return NO_TOKEN;
  const header = objectOf(head);
  if (header === undefined) return NO_TOKEN;
  const { alg, kid } = header;
  if (alg !== undefined && typeof alg !== "string") return NO_TOKEN;
  if (kid !== undefined)
    return `${VERIFY}signature #1: key provider 0 failed: failed to find key with key ID ${JSON.stringify(kid)} in key set${NO_KEYS}`;
  if (signature === "" && alg !== "none") {
    return `jws.Verify: failed to parse jws: jws.Parse: failed to parse compact format: empty compact signature requires protected header "alg" to be "none"`;
  }
  if (alg !== undefined && !Object.hasOwn(DIGESTS, alg)) {
    return `${VERIFY}signature #1: key provider 0 failed: algorithm in the message does not match any of the inferred algorithms${NO_KEYS}`;
  }
  // A token's payload is always written in base64.
  if (header.b64 === false) return NO_TOKEN;
  const given = octets(signature);
  if (given === undefined) return WRONG;
  const digests = Object.entries(DIGESTS).filter(([name]) => alg === undefined || name === alg);
  const right = digests.some(([, digest]) => {
    const expected = createHmac(digest, key).update(`${head}.${body}`).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (!right) return WRONG;
  const claims = objectOf(body);
  return claims === undefined ? NO_TOKEN : { claims };
}

/** Base64 of either alphabet, with padding or without. */
function octets(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

function objectOf(part: string): JsonObject | undefined {
  const written = octets(part);
  if (written === undefined) return undefined;
  try {
    const value = parseJson(written.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// The claims of a token, and whether it is valid at a time (RFC 7519 4.1).

/** The claims as expressions see them. */
interface Claims {
  /** The claims; numbers are doubles, times whole seconds since 1970. */
  readonly values: JsonObject;
  /** Whether the token was issued already, is valid already, and has not expired. */
  readonly valid: boolean;
}

/** Claims that are texts. */
const TEXTS = ["iss", "sub", "jti"];
/** Claims that are times. */
const TIMES = ["exp", "nbf", "iat"];

/**
 * The claims of a token; a text is their error.
 * @param now milliseconds since 1970
 */
function claimsOf(claims: JsonObject, now: number): Claims | string {
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
      // The reference cannot store a list of texts among the claims, which an audience is there.
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

/** Seconds since 1970, without their fraction; a text is the error of an invalid time. */
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

const TOKEN = "jwt.Token";

/** The type of its result. */
export const JWT_TYPES = new MessageTypes({ [TOKEN]: { Claims: mapType(STRING, DYN), Valid: BOOL } }, "present");

function decode(token: string, key: string, now: number): Result {
  const verified = verifiedToken(token, key);
  if (typeof verified === "string") return new CelError(verified);
  const claims = claimsOf(verified.claims, now);
  if (typeof claims === "string") return new CelError(claims);
  const { values, valid: Valid } = claims;
  return JWT_TYPES.make(TOKEN, Object.keys(values).length === 0 ? { Valid } : { Claims: values as Value, Valid });
}

/** `jwt.Decode`. A token's validity depends on the time of the evaluation, so the result does not depend on the arguments alone. */
export const JWT_FUNCTIONS: readonly FunctionDeclaration[] = [
  {
    name: "jwt.Decode",
    overloads: [
      {
        id: "decode_string_string",
        member: false,
        params: [STRING, STRING],
        result: objectType(TOKEN),
        call: (state, token, key) => decode(token as string, key as string, (state as KyvernoState).time),
        // Three digests of what may be the whole request, at worst.
        work: { fixed: 20_000, each: 15, deep: false },
      },
    ],
  },
];
