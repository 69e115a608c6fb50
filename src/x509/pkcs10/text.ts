/** Texts of ASN.1, of the types that Go reads as text (spec certificate-request-policy.md 1.2). */
import { isUtf8 } from "node:buffer";
import { type Element, IDENTIFIER } from "./element.js";

/** PrintableString, with the asterisk and the ampersand, which many certificates contain. */
const PRINTABLE = /^[A-Za-z0-9 '()*+,\-./:=?&]*$/;
const NUMERIC = /^[0-9 ]*$/;
const ASCII = /^[\0-\x7f]*$/;
/** UTF-16 units that are not characters by themselves, and the two kinds of noncharacters. */
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

/** The text of octets that are UTF-8; `undefined` for others. */
export function utf8Text(element: Element): string | undefined {
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
