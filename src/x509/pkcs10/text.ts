/** Texts of ASN.1, of the types that Go reads as text (spec certificate-request-policy.md 1.2). */
import { isUtf8 } from "node:buffer";
import { type Element, IDENTIFIER } from "./element.js";

/** With the asterisk and the ampersand, which many certificates hold. */
const PRINTABLE = /^[A-Za-z0-9 '()*+,\-./:=?&]*$/;
const NUMERIC = /^[0-9 ]*$/;
const ASCII = /^[\0-\x7f]*$/;
/** UTF-16 units that are no characters of their own, and the two kinds of places that are reserved for ever. */
const NOT_BMP = /[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/;

/** The text of octets that are all ASCII; `undefined` for others. */
export function asciiText({ text }: Element): string | undefined {
  return ASCII.test(text) ? text : undefined;
}

/** The text of octets that are printable; `undefined` for others. */
export function printableText({ text }: Element): string | undefined {
  return PRINTABLE.test(text) ? text : undefined;
}

/** A type of text. */
export interface TextType {
  /** The text of an element's content; `undefined` for octets that the type does not allow. */
  readonly read: (element: Element) => string | undefined;
  /** Go's error for those. */
  readonly problem: string;
}

const type = (read: TextType["read"], problem: string): TextType => ({ read, problem });

/** The types of text, by their identifiers. */
export const TEXT_TYPES: ReadonlyMap<number, TextType> = new Map([
  [IDENTIFIER.utf8String, type(utf8Text, "asn1: invalid UTF-8 string")],
  [IDENTIFIER.printableString, type(printableText, "asn1: syntax error: PrintableString contains invalid character")],
  [IDENTIFIER.ia5String, type(asciiText, "asn1: syntax error: IA5String contains invalid character")],
  [IDENTIFIER.numericString, type(numericText, "asn1: syntax error: NumericString contains invalid character")],
  [IDENTIFIER.t61String, type(latin1Text, "")],
  [IDENTIFIER.bmpString, type(bmpText, "invalid BMPString")],
]);

function latin1Text({ text }: Element): string {
  return text;
}

function utf8Text(element: Element): string | undefined {
  const { text } = element;
  if (ASCII.test(text)) return text;
  const { content } = element;
  return isUtf8(content) ? content.toString("utf8") : undefined;
}

function numericText({ text }: Element): string | undefined {
  return NUMERIC.test(text) ? text : undefined;
}

function bmpText(element: Element): string | undefined {
  const { content } = element;
  if (content.length % 2 !== 0) return undefined;
  const text = Buffer.from(content).swap16().toString("utf16le");
  const withoutTerminator = text.endsWith("\0") ? text.slice(0, -1) : text;
  return NOT_BMP.test(withoutTerminator) ? undefined : withoutTerminator;
}

/** What is added to an octet: half of a surrogate pair, which no text has. */
const NO_CHARACTER = 0xdc00;

/**
 * Octets as UTF-8. One that is not part of a character, which Go keeps as it is, becomes half of a surrogate pair, U+DC80 to U+DCFF: it equals no
 * pattern and no text of a rule, and prints as Go prints it.
 */
export function lenientUtf8(element: Element): string {
  const text = utf8Text(element);
  if (text !== undefined) return text;
  const { content } = element;
  const parts: string[] = [];
  for (let at = 0; at < content.length; ) {
    const size = characterSize(content, at);
    if (size === 0) parts.push(String.fromCharCode(NO_CHARACTER + (content[at] ?? 0)));
    else parts.push(content.toString("utf8", at, at + size));
    at += size || 1;
  }
  return parts.join("");
}

/** How many octets the character has that begins there; 0 for none. */
function characterSize(content: Buffer, at: number): number {
  const first = content[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const second = content[at + 1] ?? 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let i = at + 2; i < at + size; i++) {
    if (((content[i] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return size;
}
