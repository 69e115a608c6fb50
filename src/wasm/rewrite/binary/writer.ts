/** Writes the WebAssembly binary format. */

/** First capacity of a writer in bytes. */
const FIRST_ROOM = 256;
/** Shorter runs are copied byte by byte: a view of them costs more. */
const SHORT_RUN = 24;

/** Bytes written consecutively into an array that grows. */
export class Writer {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** @param room bytes that will probably be needed */
  constructor(room = FIRST_ROOM) {
    this.#bytes = new Uint8Array(room);
  }

  get length(): number {
    return this.#length;
  }

  /** Removes the written bytes; the capacity stays. */
  clear(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  raw(bytes: ArrayLike<number>): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Copies `source` from `start` up to `end`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count);
    if (count > SHORT_RUN) this.#bytes.set(source.subarray(start, end), this.#length);
    else for (let index = 0; index < count; index++) this.#bytes[this.#length + index] = source[start + index] ?? 0;
    this.#length += count;
  }

  /** LEB128 of a non-negative integer up to 2^53. */
  unsigned(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    this.byte(rest);
  }

  /** LEB128 of a signed integer of 32 bits. */
  signed(value: number): void {
    let rest = value;
    for (; rest < -0x40 || rest > 0x3f; rest >>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest & 0x7f);
  }

  /** An opcode of one byte, and the index behind it. */
  instruction(code: number, index: number): void {
    this.byte(code);
    this.unsigned(index);
  }

  text(value: string): void {
    this.block(Buffer.from(value, "utf8"));
  }

  /** Writes the number of bytes, and the bytes. */
  block(bytes: Uint8Array): void {
    this.unsigned(bytes.length);
    this.raw(bytes);
  }

  section(id: number, body: Uint8Array): void {
    this.byte(id);
    this.block(body);
  }

  /** The bytes written so far; a view, valid until more is written. */
  view(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The written bytes, in an array of their length. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.view());
    this.#bytes = larger;
  }
}
