import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { characterLength } from "../../../../data/yaml/text.js";
import { asJson, sortedEntries } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { objectOf, textOf } from "./operands.js";

/** `base64url.encode_no_pad`, `hex.*`, `urlquery.*`, and the digests. */
export const encodings: Readonly<Record<string, Builtin>> = {
  "base64url.encode_no_pad": (text) => Buffer.from(textOf(text, "base64url.encode_no_pad")).toString("base64url"),
  "hex.encode": (text) => Buffer.from(textOf(text, "hex.encode")).toString("hex"),
  "hex.decode": (text) => decodeHex(textOf(text, "hex.decode")),
  "urlquery.encode": (text) => encodeQuery(textOf(text, "urlquery.encode")),
  "urlquery.decode": (text) => decodeQuery(textOf(text, "urlquery.decode")),
  "urlquery.encode_object": (object) => encodeObject(asJson(objectOf(object, "urlquery.encode_object")) as object),
  "urlquery.decode_object": (text) => decodeObject(textOf(text, "urlquery.decode_object")),
  "crypto.md5": (text) => digest("md5", text),
  "crypto.sha1": (text) => digest("sha1", text),
  "crypto.sha256": (text) => digest("sha256", text),
};

function digest(algorithm: "md5" | "sha1" | "sha256", text: unknown): string {
  return createHash(algorithm)
    .update(textOf(text, `crypto.${algorithm}`))
    .digest("hex");
}

function decodeHex(text: string): string {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) throw new Error("hex.decode: not hexadecimal");
  return goText(Buffer.from(text, "hex"));
}

/** As Go's QueryEscape: everything but letters, digits and `-_.~`; a space is a plus. */
function encodeQuery(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decodeQuery(text: string): string {
  if (/%(?![0-9a-fA-F]{2})/.test(text))
    throw new Error("urlquery.decode: a % is not followed by two hexadecimal digits");
  const plain = text.replaceAll("+", " ");
  if (!plain.includes("%")) return plain;
  const bytes = Buffer.from(plain);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === PERCENT;
    bytes[length++] = isEscape ? Number.parseInt(bytes.toString("latin1", at + 1, at + 3), 16) : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return goText(bytes.subarray(0, length));
}

const PERCENT = 0x25;

/** Bytes as Go writes them in JSON: each one that belongs to no character is a U+FFFD. */
function goText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    at += Math.max(length, 1);
    if (length > 0) continue;
    text += `${bytes.toString("utf8", from, at - 1)}\ufffd`;
    from = at;
  }
  return text + bytes.toString("utf8", from);
}

/** Keys sorted; a value is a text or a list or set of texts. */
function encodeObject(object: object): string {
  const pairs: string[] = [];
  for (const [key, value] of sortedEntries(object) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${encodeQuery(key)}=${encodeQuery(textOf(one, "urlquery.encode_object"))}`);
  }
  return pairs.join("&");
}

/** Go's own limit. */
const MOST_PARAMETERS = 10_000;

function decodeObject(text: string): Record<string, string[]> {
  const object = new Map<string, string[]>();
  const pairs = text.split("&", MOST_PARAMETERS + 1);
  if (pairs.length > MOST_PARAMETERS)
    throw new Error(`urlquery.decode_object: the query has more than ${MOST_PARAMETERS} parameters`);
  for (const pair of pairs) {
    if (pair.includes(";")) throw new Error("urlquery.decode_object: a semicolon separates nothing");
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = decodeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decodeQuery(pair.slice(equals + 1));
    const values = object.get(key);
    if (values) values.push(value);
    else object.set(key, [value]);
  }
  return Object.fromEntries(object);
}
