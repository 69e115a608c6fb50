/** Values of primitive elements, with Go's errors. */
import { MalformedRequest } from "./certification-request.js";
import { Element, IDENTIFIER, readBase128 } from "./element.js";

/** Most octets of an integer in Go. */
const INT64_OCTETS = 8;

/** An object identifier's content, dotted. */
export function oidText(element: Element): string | MalformedRequest {
  const { octets, contentStart, end } = element;
  if (contentStart === end) return new MalformedRequest("asn1: syntax error: zero length OBJECT IDENTIFIER");
  let text = "";
  for (let at = contentStart; at < end; ) {
    const number = readBase128(octets, at, end);
    if (number === undefined) return new MalformedRequest("asn1: syntax error: bad base 128 integer");
    const { value } = number;
    if (at > contentStart) text += `.${value}`;
    else text = value < 80 ? `${Math.floor(value / 40)}.${value % 40}` : `2.${value - 80}`;
    at = number.end;
  }
  return text;
}

/** An element that must be an object identifier. */
export function oidOf(element: Element | MalformedRequest): string | MalformedRequest {
  return element instanceof Element ? oidText(element) : element;
}

/** Whether an integer's content is minimal. */
export function isInteger({ octets, contentStart, length }: Element): boolean {
  if (length < 2) return length === 1;
  const [first = 0, second = 0] = [octets[contentStart], octets[contentStart + 1]];
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

/** Whether an integer's content is minimal, and has 64 bits at most. */
export const isInt64 = (element: Element): boolean => element.length <= INT64_OCTETS && isInteger(element);

/** Whether an integer is above zero. */
export function isPositive(element: Element): boolean {
  const first = element.octets[element.contentStart] ?? 0;
  return first < 0x80 && (first > 0 || element.length > 1);
}

/** The number of bits of a positive integer. */
export function bitLength({ octets, contentStart, length }: Element): number {
  // A first octet of zero only has the sign.
  const [first = 0, second = 0] = [octets[contentStart], octets[contentStart + 1]];
  return first === 0 ? bitsOf(second) + 8 * (length - 2) : bitsOf(first) + 8 * (length - 1);
}

const bitsOf = (octet: number): number => 32 - Math.clz32(octet);

/** Whether a boolean's content is one of the two that DER has. */
export function isBoolean({ octets, contentStart, length }: Element): boolean {
  const value = octets[contentStart];
  return length === 1 && (value === 0 || value === 0xff);
}

/** Whether a bit string is valid: it gives the number of unused bits in its last octet, and they are zero. */
export function isBitString({ octets, contentStart, end, length }: Element): boolean {
  const padding = octets[contentStart] ?? 0;
  if (length === 0 || padding > 7 || (length === 1 && padding > 0)) return false;
  return ((octets[end - 1] ?? 0) & ((1 << padding) - 1)) === 0;
}

/** A bit string's octets, with the unused bits at the front. */
export function rightAligned(element: Element): Buffer {
  const bits = element.content.subarray(1);
  const shift = element.octets[element.contentStart] ?? 0;
  if (shift === 0) return bits;
  const aligned = Buffer.alloc(bits.length);
  let carry = 0;
  for (let i = 0; i < bits.length; i++) {
    const octet = bits[i] ?? 0;
    aligned[i] = carry | (octet >> shift);
    carry = (octet << (8 - shift)) & 0xff;
  }
  return aligned;
}

/** Reads an element that must be a bit string. */
export function bitStringOf(element: Element | MalformedRequest): Element | MalformedRequest {
  if (!(element instanceof Element) || isBitString(element)) return element;
  return new MalformedRequest("asn1: syntax error: invalid padding bits in BIT STRING");
}

/** An algorithm: its identifier, and its parameters where there are any. */
export interface Algorithm {
  readonly oid: string;
  readonly parameters: Element | undefined;
}

/** Reads an AlgorithmIdentifier; elements behind the parameters are ignored. */
export function algorithmOf(element: Element | MalformedRequest): Algorithm | MalformedRequest {
  if (element instanceof MalformedRequest) return element;
  const reader = element.inside();
  const oid = oidOf(reader.expect(IDENTIFIER.oid));
  if (oid instanceof MalformedRequest) return oid;
  const parameters = reader.atEnd ? undefined : reader.next();
  return parameters instanceof MalformedRequest ? parameters : { oid, parameters };
}
