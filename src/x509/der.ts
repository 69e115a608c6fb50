/** A strict reader of DER: definite lengths in their shortest form, single-byte tags. */
import { CertificateProblem, type ProblemName } from "./problem.js";

/** Tags that certificates use. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

/** The tag of a context-specific field. */
export function contextTag(number: number, constructed: boolean): number {
  return 0x80 | (constructed ? 0x20 : 0) | number;
}

/** Longest value in a certificate. */
const LONGEST_VALUE = 0xffff;
const HIGH_TAG = 0x1f;
/** The bit in the first byte of a length that has more bytes. */
const LONG_FORM = 0x80;

/** One tag, length and value. */
export interface Element {
  readonly tag: number;
  readonly value: Buffer;
  /** The element with its tag and length. */
  readonly raw: Buffer;
}

/** Reads elements one after another. All methods throw CertificateProblem. */
export class DerReader {
  #at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Whether this tag comes next. */
  peek(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  element(): Element {
    const start = this.#at;
    const tag = this.#byte();
    if ((tag & HIGH_TAG) === HIGH_TAG) throw new CertificateProblem("BadDer");
    const end = this.#length() + this.#at;
    if (end > this.#bytes.length) throw new CertificateProblem("BadDer");
    const value = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return { tag, value, raw: this.#bytes.subarray(start, end) };
  }

  /** The value of an element that must have this tag. */
  expect(tag: number): Buffer {
    const { tag: found, value } = this.element();
    if (found !== tag) throw new CertificateProblem("BadDer");
    return value;
  }

  /** Reads the whole of an element; one problem stands for another tag and for surplus content. */
  nested<T>(tag: number, problem: ProblemName, read: (reader: DerReader) => T): T {
    let value: Buffer;
    try {
      value = this.expect(tag);
    } catch {
      throw new CertificateProblem(problem);
    }
    return readAll(value, read, problem);
  }

  /** A boolean that is left out when false. */
  optionalBoolean(): boolean {
    if (!this.peek(TAG.boolean)) return false;
    const value = this.expect(TAG.boolean);
    if (value.length !== 1 || (value[0] !== 0 && value[0] !== 0xff)) throw new CertificateProblem("BadDer");
    return value[0] === 0xff;
  }

  /** An integer from 0 to 255. */
  smallInteger(): number {
    const value = this.expect(TAG.integer);
    const number = value.length === 0 || value.length > 2 ? -1 : value.readIntBE(0, value.length);
    if (number < 0 || number > 0xff || (value.length === 2 && number < 0x80)) throw new CertificateProblem("BadDer");
    return number;
  }

  #length(): number {
    const first = this.#byte();
    if (first < LONG_FORM) return first;
    const count = first - LONG_FORM;
    if (count < 1 || count > 2) throw new CertificateProblem("BadDer");
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + this.#byte();
    if (length < (count === 1 ? LONG_FORM : 0x100) || length >= LONGEST_VALUE) throw new CertificateProblem("BadDer");
    return length;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new CertificateProblem("BadDer");
    this.#at += 1;
    return byte;
  }
}

/** Reads the whole of a value; surplus content is a problem. */
export function readAll<T>(bytes: Buffer, read: (reader: DerReader) => T, problem: ProblemName = "BadDer"): T {
  const reader = new DerReader(bytes);
  const result = read(reader);
  if (!reader.atEnd) throw new CertificateProblem(problem);
  return result;
}
