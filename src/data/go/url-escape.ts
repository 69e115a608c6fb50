/**
 * Percent-escapes in the parts of a URL, by the rules of Go's net/url (spec kubernetes-cel.md 4.7). Texts here are strings of octets: every character is one
 * octet of the UTF-8 form, because an escape may stand for any.
 */

import { decodeUtf8, encodeUtf8 } from "../utf8.js";
import { quoted } from "./quoted-text.js";

/** The parts with rules of their own. */
export type UrlPart = "path" | "host" | "zone" | "user" | "query" | "fragment";

const ALWAYS_PLAIN = "-._~";
const PLAIN: Readonly<Record<UrlPart, string>> = {
  path: "$&+,/:;=@",
  host: "!\"$&'()*+,:;<=>[]",
  zone: "!\"$&'()*+,:;<=>[]",
  user: "$&+,;=",
  query: "",
  fragment: "!$&()*+,/:;=?@",
};

/** Characters that stay as they are in a text that is escaped already, in every part. */
const PLAIN_WHEN_ESCAPED = "!$&'()*+,;=:@[]%";

/** Whether a character has to be escaped in a part, by its code; `plain` are further characters that need not be. */
function escapedBeside(plain: string): readonly boolean[] {
  return Array.from({ length: 256 }, (_, code) => {
    const character = String.fromCharCode(code);
    return !/[0-9A-Za-z]/.test(character) && !ALWAYS_PLAIN.includes(character) && !plain.includes(character);
  });
}

const forParts = (more: string): Readonly<Record<UrlPart, readonly boolean[]>> => ({
  path: escapedBeside(PLAIN.path + more),
  host: escapedBeside(PLAIN.host + more),
  zone: escapedBeside(PLAIN.zone + more),
  user: escapedBeside(PLAIN.user + more),
  query: escapedBeside(PLAIN.query + more),
  fragment: escapedBeside(PLAIN.fragment + more),
});

const ESCAPED = forParts("");
const ESCAPED_AGAIN = forParts(PLAIN_WHEN_ESCAPED);

/** The place of the first character that has to be escaped, from `at` on; the text's length for none. */
function nextEscaped(text: string, escaped: readonly boolean[], at: number): number {
  let i = at;
  while (i < text.length && escaped[text.charCodeAt(i)] === false) i++;
  return i;
}

/** The error of a URL: the text behind `parse "…": `, and the quoted part (octets) where that is not the whole. */
export class UrlError {
  constructor(
    readonly message: string,
    readonly text?: string,
  ) {}
}

const escapeError = (octets: string): UrlError => new UrlError(`invalid URL escape ${quotedOctets(octets)}`);

/** Replaces escapes by their characters. */
export function unescapeText(text: string, part: UrlPart): string | UrlError {
  const error = part === "host" || part === "zone" ? badHostCharacter(text, part) : badEscape(text);
  if (error !== undefined) return error;
  const plain = part === "query" ? text.replaceAll("+", " ") : text;
  if (!plain.includes("%")) return plain;
  return plain.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const ESCAPE = /^%[0-9a-fA-F]{2}/;

function badEscape(text: string): UrlError | undefined {
  if (!text.includes("%")) return undefined;
  const bad = text.search(/%(?![0-9a-fA-F]{2})/);
  return bad === -1 ? undefined : escapeError(text.slice(bad, bad + 3));
}

/** The error of an escape in a host, which may only stand for octets beyond ASCII and the percent sign; in a zone, for characters of a host, and the space. */
function badHostCharacter(text: string, part: "host" | "zone"): UrlError | undefined {
  const inHost = ESCAPED.host;
  for (let i = 0; i < text.length; i++) {
    i = nextEscaped(text, ESCAPED[part], i);
    if (i >= text.length) return undefined;
    const code = text.charCodeAt(i);
    if (code >= 0x80) continue;
    if (code !== PERCENT) return new UrlError(`invalid character ${quoted(text.charAt(i))} in host name`);
    const escaped = text.slice(i, i + 3);
    if (!ESCAPE.test(escaped)) return escapeError(escaped);
    const octet = Number.parseInt(escaped.slice(1), 16);
    const refused = part === "host" ? octet < 0x80 : octet !== 0x20 && inHost[octet] === true;
    if (refused && escaped !== "%25") return escapeError(escaped);
    i += 2;
  }
  return undefined;
}

const PERCENT = 0x25;

/** Escapes all characters that have to be. */
export function escapeText(text: string, part: UrlPart): string {
  let result = "";
  for (let at = 0; ; ) {
    const next = nextEscaped(text, ESCAPED[part], at);
    if (next === text.length) return at === 0 ? text : result + text.slice(at);
    result += `${text.slice(at, next)}%${hexOf(text.charAt(next)).toUpperCase()}`;
    at = next + 1;
  }
}

const hexOf = (octet: string): string => octet.charCodeAt(0).toString(16).padStart(2, "0");

/** Whether an escaped text needs no further escapes: it may contain some characters that escaping would not leave. */
export const isValidEscaped = (text: string, part: UrlPart): boolean =>
  nextEscaped(text, ESCAPED_AGAIN[part], 0) === text.length;

/** A string as octets. */
export const toOctets = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(encodeUtf8(text)).toString("latin1");

/** Octets as a string; those that are not UTF-8 become U+FFFD. */
export const fromOctets = (octets: string): string =>
  /^[\0-\x7f]*$/.test(octets) ? octets : Buffer.from(octets, "latin1").toString("utf8");

/** Octets in quotes: those that are not UTF-8 as `\xNN`. */
export function quotedOctets(octets: string): string {
  if (/^[\0-\x7f]*$/.test(octets)) return quoted(octets);
  let result = "";
  let rest = octets;
  while (rest !== "") {
    const length = characterLength(rest);
    result += length === 0 ? `\\x${hexOf(rest)}` : quoted(fromOctets(rest.slice(0, length))).slice(1, -1);
    rest = rest.slice(length || 1);
  }
  return `"${result}"`;
}

/** Number of octets of the first character; 0 when they are not UTF-8. */
function characterLength(octets: string): number {
  for (let length = 1; length <= 4; length++) {
    if (decodeUtf8(Buffer.from(octets.slice(0, length), "latin1")) !== undefined) return length;
  }
  return 0;
}
