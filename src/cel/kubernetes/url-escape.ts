/**
 * Percent-escapes in the parts of a URL, as Go's net/url has them (spec kubernetes-cel.md 4.7). Texts here are strings of octets: every character is one
 * octet of the UTF-8 form, because an escape may stand for any.
 */
import { quoted } from "../values/quoted-text.js";
import { decodeUtf8, encodeUtf8 } from "../values/utf8.js";

/** The parts that have rules of their own. */
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

/** For every part, by character: whether it has to be escaped. */
const ESCAPED: Readonly<Record<UrlPart, readonly boolean[]>> = {
  path: escapedBeside(PLAIN.path),
  host: escapedBeside(PLAIN.host),
  zone: escapedBeside(PLAIN.zone),
  user: escapedBeside(PLAIN.user),
  query: escapedBeside(PLAIN.query),
  fragment: escapedBeside(PLAIN.fragment),
};

function escapedBeside(plain: string): readonly boolean[] {
  return Array.from({ length: 256 }, (_, code) => {
    const character = String.fromCharCode(code);
    return !/[0-9A-Za-z]/.test(character) && !ALWAYS_PLAIN.includes(character) && !plain.includes(character);
  });
}

/** Whether a character of a part has to be escaped. */
const mustEscape = (character: string, part: UrlPart): boolean => ESCAPED[part][character.charCodeAt(0)] === true;

/** Why a URL cannot be parsed: the text behind `parse "…": `, and what stands in the quotes (octets) where that is not the whole. */
export class UrlError {
  constructor(
    readonly message: string,
    readonly text?: string,
  ) {}
}

const escapeError = (octets: string): UrlError => new UrlError(`invalid URL escape ${quotedOctets(octets)}`);

/** Replaces escapes by what they stand for. */
export function unescapeText(text: string, part: UrlPart): string | UrlError {
  const error = part === "host" || part === "zone" ? badHostCharacter(text, part) : badEscape(text);
  if (error !== undefined) return error;
  const plain = part === "query" ? text.replaceAll("+", " ") : text;
  return plain.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const ESCAPE = /^%[0-9a-fA-F]{2}/;

function badEscape(text: string): UrlError | undefined {
  const bad = text.search(/%(?![0-9a-fA-F]{2})/);
  return bad === -1 ? undefined : escapeError(text.slice(bad, bad + 3));
}

/** A host may escape octets beyond ASCII and the percent sign; a zone what may stand in a host, and the space. */
function badHostCharacter(text: string, part: "host" | "zone"): UrlError | undefined {
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character !== "%") {
      if (character < "\u0080" && mustEscape(character, part)) {
        return new UrlError(`invalid character ${quoted(character)} in host name`);
      }
      continue;
    }
    const escaped = text.slice(i, i + 3);
    if (!ESCAPE.test(escaped)) return escapeError(escaped);
    const octet = Number.parseInt(escaped.slice(1), 16);
    const refused =
      part === "host"
        ? octet < 0x80
        : octet !== 0x20 && (octet >= 0x80 || mustEscape(String.fromCharCode(octet), "host"));
    if (refused && escaped !== "%25") return escapeError(escaped);
    i += 2;
  }
  return undefined;
}

/** Escapes what has to be. */
export function escapeText(text: string, part: UrlPart): string {
  let result = "";
  for (const character of text) {
    result += mustEscape(character, part) ? `%${hexOf(character).toUpperCase()}` : character;
  }
  return result;
}

const hexOf = (octet: string): string => octet.charCodeAt(0).toString(16).padStart(2, "0");

/** Whether an escaped text needs no further escapes: it may hold some characters that escaping would not leave. */
export function isValidEscaped(text: string, part: UrlPart): boolean {
  for (const character of text) {
    if (!"!$&'()*+,;=:@[]%".includes(character) && mustEscape(character, part)) return false;
  }
  return true;
}

/** A string as octets. */
export const toOctets = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(encodeUtf8(text)).toString("latin1");

/** Octets as a string; what is not UTF-8 becomes U+FFFD. */
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

/** How many octets the first character has; 0 when they are none. */
function characterLength(octets: string): number {
  for (let length = 1; length <= 4; length++) {
    if (decodeUtf8(Buffer.from(octets.slice(0, length), "latin1")) !== undefined) return length;
  }
  return 0;
}
