/**
 * Elements of DER as Go reads them: lengths in their shortest form, and tag numbers of any size. encoding/asn1 takes any of these; cryptobyte
 * (the key, and the first look at subjectAltName) refuses tag numbers above 30, which is what {@link Element.hasHighTag} is for.
 */
import { MalformedRequest } from "./certification-request.js";

/** First octets of elements: class, whether it is constructed, and number. */
export const IDENTIFIER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** In an identifier: the tag number, or all ones for one that follows in octets of its own. */
export const TAG_NUMBER = 0x1f;
/** The bit in octets of a number which says that more follow. */
const MORE = 0x80;
/** Most octets of a number in base 128, and the greatest number in Go. */
const LONGEST_NUMBER = 5;
const HIGHEST_NUMBER = 2 ** 31 - 1;
/** Length from which on Go accepts no further octet. */
const LONGEST_LENGTH = 2 ** 23;

const TRUNCATED = new MalformedRequest("asn1: syntax error: truncated tag or length");

/** Octets, and the same as a text with a character for each: slicing a text costs less than slicing a buffer. */
export class Source {
  readonly text: string;

  constructor(readonly octets: Buffer) {
    this.text = octets.toString("latin1");
  }
}

/** One element; nothing is copied. */
export class Element {
  constructor(
    readonly source: Source,
    /** The places of its first octet, its content, and its end. */
    readonly start: number,
    readonly contentStart: number,
    readonly end: number,
  ) {}

  /** The octets of the whole source. */
  get octets(): Buffer {
    return this.source.octets;
  }

  /** Its first octet. */
  get identifier(): number {
    return this.octets[this.start] ?? 0;
  }

  get hasHighTag(): boolean {
    return (this.identifier & TAG_NUMBER) === TAG_NUMBER;
  }

  /** Octets of its content. */
  get length(): number {
    return this.end - this.contentStart;
  }

  /** Its content, with a character for each octet. */
  get text(): string {
    return this.source.text.slice(this.contentStart, this.end);
  }

  get content(): Buffer {
    return this.octets.subarray(this.contentStart, this.end);
  }

  /** The element with its tag and length. */
  get der(): Buffer {
    return this.octets.subarray(this.start, this.end);
  }

  /** A reader of its inner elements. */
  inside(): ElementReader {
    return new ElementReader(this.source, this.contentStart, this.end);
  }
}

/** Reads one element after the other. */
export class ElementReader {
  readonly #source: Source;
  readonly #octets: Buffer;
  readonly #end: number;
  #at: number;

  constructor(source: Source, start = 0, end: number = source.octets.length) {
    this.#source = source;
    this.#octets = source.octets;
    this.#at = start;
    this.#end = end;
  }

  get atEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Whether an element with this identifier comes next. */
  peek(identifier: number): boolean {
    return this.#at < this.#end && this.#octets[this.#at] === identifier;
  }

  next(): Element | MalformedRequest {
    if (this.atEnd) return new MalformedRequest("asn1: syntax error: sequence truncated");
    const element = readElement(this.#source, this.#at, this.#end);
    if (element instanceof Element) this.#at = element.end;
    return element;
  }

  /** The next element, which must have this identifier. */
  expect(identifier: number): Element | MalformedRequest {
    if (!this.atEnd && !this.peek(identifier)) return tagMismatch(identifier, this.#octets[this.#at] ?? 0);
    return this.next();
  }
}

const tagMismatch = (expected: number, found: number): MalformedRequest =>
  new MalformedRequest(`asn1: structure error: tags don't match (${octetText(expected)} vs ${octetText(found)})`);

const octetText = (octet: number): string => `0x${octet.toString(16).padStart(2, "0")}`;

/** The only element of a reader. */
export function onlyElement(reader: ElementReader, identifier: number): Element | MalformedRequest {
  const element = reader.expect(identifier);
  return element instanceof Element && !reader.atEnd
    ? new MalformedRequest("asn1: syntax error: trailing data")
    : element;
}

/** The element that begins at `start`; its container ends at `end`. */
function readElement(source: Source, start: number, end: number): Element | MalformedRequest {
  const { octets } = source;
  let at = start + 1;
  if (((octets[start] ?? 0) & TAG_NUMBER) === TAG_NUMBER) {
    const number = readBase128(octets, at, end);
    if (number === undefined) return new MalformedRequest("asn1: syntax error: bad base 128 integer");
    if (number.value < TAG_NUMBER) return new MalformedRequest("asn1: syntax error: non-minimal tag");
    at = number.end;
  }
  if (at >= end) return TRUNCATED;
  const first = octets[at++] ?? 0;
  let length = first;
  if (first >= MORE) {
    let left = first - MORE;
    if (left === 0) return new MalformedRequest("asn1: syntax error: indefinite length found (not DER)");
    for (length = 0; left > 0; left--) {
      if (at >= end) return TRUNCATED;
      if (length >= LONGEST_LENGTH) return new MalformedRequest("asn1: structure error: length too large");
      length = length * 0x100 + (octets[at++] ?? 0);
      if (length === 0) return new MalformedRequest("asn1: structure error: superfluous leading zeros in length");
    }
    if (length < MORE) return new MalformedRequest("asn1: structure error: non-minimal length");
  }
  if (at + length > end) return new MalformedRequest("asn1: syntax error: data truncated");
  return new Element(source, start, at, at + length);
}

/** A number in base 128 and its end; `undefined` for one that is cut off, not minimal or too large. */
export function readBase128(octets: Buffer, start: number, end: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = start; at < end && at - start < LONGEST_NUMBER; at++) {
    const octet = octets[at] ?? 0;
    if (at === start && octet === MORE) return undefined;
    value = value * MORE + (octet & (MORE - 1));
    if (octet < MORE) return value > HIGHEST_NUMBER ? undefined : { value, end: at + 1 };
  }
  return undefined;
}
