/** Batches of resources between reading and evaluation: texts, cut out of a file, several at a time. */
import { yamlText } from "../../../data/yaml.js";
import { ScanError } from "../scan-error.js";

/** The format of a text. */
export type Form = "json" | "yaml";

/** The kind of a list's items without their own. */
export interface ListKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Texts of one file, in one buffer that can be sent to a thread. */
export interface Batch {
  readonly file: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** The end of each text, which is the begin of the next one. */
  readonly ends: readonly number[];
  /** The file's line of each text's begin. */
  readonly lines: readonly number[];
  readonly list?: ListKind;
}

/** Bytes from which a batch is passed on: large enough that passing it costs little beside parsing it, small enough that a few of them take little memory. */
const BATCH_BYTES = 256 * 1024;
/** Longest text of one resource. An API server accepts 3 MiB; lists that can't be split while reading are one text, too. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Collects texts (one instance per file). */
export class BatchBuilder {
  readonly #file: string;
  readonly #form: Form;
  readonly #full: Batch[] = [];
  #list: ListKind | undefined;
  #buffer = new Uint8Array(BATCH_BYTES);
  #length = 0;
  /** The begin of the current text. */
  #start = 0;
  #ends: number[] = [];
  /** The line of each text, and of the current one. */
  #lines: number[] = [];
  #line = 0;

  constructor(file: string, form: Form) {
    this.#file = file;
    this.#form = form;
  }

  /**
   * Adds a part of a text.
   * @param line its line of the file
   * @throws ScanError when the text gets too long
   */
  append(part: Uint8Array, line: number): void {
    if (this.#length === this.#start) this.#line = line;
    const length = this.#length + part.length;
    if (length - this.#start > MAX_TEXT_BYTES) {
      throw new ScanError(`${this.#file}: a resource of more than ${MAX_TEXT_BYTES} bytes: split the file`);
    }
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(part, this.#length);
    this.#length = length;
  }

  /** Completes the current text. */
  end(): void {
    this.#ends.push(this.#length);
    this.#lines.push(this.#line);
    this.#start = this.#length;
    if (this.#length >= BATCH_BYTES) this.#close();
  }

  /** Discards the current text. */
  drop(): void {
    this.#length = this.#start;
  }

  /** The current text. */
  current(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#length);
  }

  /** Sets the kind of the following items without their own. */
  of(list: ListKind | undefined): void {
    if (this.#ends.length > 0) this.#close();
    this.#list = list;
  }

  /** The complete batches. */
  take(): readonly Batch[] {
    return this.#full.splice(0);
  }

  /** The remaining batches; there is no current text any more. */
  finish(): readonly Batch[] {
    if (this.#ends.length > 0) this.#close();
    return this.take();
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }

  #close(): void {
    const rest = this.#buffer.slice(this.#start, this.#length);
    const bytes = this.#buffer.slice(0, this.#start);
    const list = this.#list;
    const [file, form, ends, lines] = [this.#file, this.#form, this.#ends, this.#lines];
    this.#full.push({ file, form, bytes, ends, lines, ...(list && { list }) });
    this.#ends = [];
    this.#lines = [];
    if (this.#buffer.length > 2 * BATCH_BYTES) this.#buffer = new Uint8Array(Math.max(BATCH_BYTES, rest.length));
    this.#buffer.set(rest);
    this.#start = 0;
    this.#length = rest.length;
  }
}

/** The texts of a batch, in order. */
export function textsOf({ bytes, ends }: Batch): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  return ends.map((end) => {
    const text = yamlText(buffer.subarray(start, end));
    start = end;
    return text;
  });
}
