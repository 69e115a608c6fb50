/** `base64url.encode_no_pad`, `hex.*`, `urlquery.*`, and the digests. */
import { createHash } from "node:crypto";
import type { Builtin } from "./index.js";
import { objectOf, textOf } from "./operands.js";

/** See the module. */
export const encodings: Readonly<Record<string, Builtin>> = {
  "base64url.encode_no_pad": (text) => Buffer.from(textOf(text, "base64url.encode_no_pad")).toString("base64url"),
  "hex.encode": (text) => Buffer.from(textOf(text, "hex.encode")).toString("hex"),
  "hex.decode": (text) => decodeHex(textOf(text, "hex.decode")),
  "urlquery.encode": (text) => encodeQuery(textOf(text, "urlquery.encode")),
  "urlquery.decode": (text) => decodeQuery(textOf(text, "urlquery.decode")),
  "urlquery.encode_object": (object) => encodeObject(objectOf(object, "urlquery.encode_object")),
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
  return Buffer.from(text, "hex").toString("utf8");
}

/** As Go's QueryEscape: everything but letters, digits and `-_.~`; a space is a plus. */
function encodeQuery(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decodeQuery(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (error) {
    throw new Error(`urlquery.decode: invalid escape in ${JSON.stringify(text)}`, { cause: error });
  }
}

/** Keys sorted; a value is a text or a list of texts. */
function encodeObject(object: Record<string, unknown>): string {
  const pairs: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${encodeQuery(key)}=${encodeQuery(textOf(one, "urlquery.encode_object"))}`);
  }
  return pairs.join("&");
}

function decodeObject(text: string): Record<string, string[]> {
  const object = new Map<string, string[]>();
  for (const pair of text.split("&")) {
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
