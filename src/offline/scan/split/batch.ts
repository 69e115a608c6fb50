/** Resources on their way from a file to whom they are judged by: texts, cut out of what was read, several at a time. */
import { yamlText } from "../../../data/yaml.js";
import { ScanError } from "../scan-error.js";

/** How a text is written. */
export type Form = "json" | "yaml";

/** Of which kind the items of a list are that don't say so themselves. */
export interface ListKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Texts of one file, in one piece of memory so that it can be handed to a thread. */
export interface Batch {
  readonly file: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** Where each text ends; it begins where the one before ends. */
  readonly ends: readonly number[];
  /** Of YAML, with which line of the file each text begins. */
  readonly lines?: readonly number[];
  readonly list?: ListKind;
}

/**
 * Bytes from which a batch is handed on: large enough that handing it on costs nothing beside reading it, small enough that a few of them under way are no
 * matter.
 */
const BATCH_BYTES = 256 * 1024;
/** Longest text of one resource. An API server takes 3 MiB; lists whose items can't be told apart while reading come in one text, too. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Collects texts (one use per file). */
export class BatchBuilder {
  readonly #file: string;
  readonly #form: Form;
  readonly #full: Batch[] = [];
  #list: ListKind | undefined;
  #buffer = new Uint8Array(BATCH_BYTES);
  #length = 0;
  /** Where the text begins that is being collected. */
  #start = 0;
  #ends: number[] = [];
  /** The line of each text, and of the one that is being collected. */
  #lines: number[] = [];
  #line = 0;

  constructor(file: string, form: Form) {
    this.#file = file;
    this.#form = form;
  }

  /**
   * Adds a part of a text.
   * @param line of the file in which it stands, where lines are counted
   * @throws ScanError when the text gets too long
   */
  append(part: Uint8Array, line = 0): void {
    if (this.#length === this.#start) this.#line = line;
    const length = this.#length + part.length;
    if (length - this.#start > MAX_TEXT_BYTES) {
      throw new ScanError(`${this.#file}: a resource of more than ${MAX_TEXT_BYTES} bytes: split the file`);
    }
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(part, this.#length);
    this.#length = length;
  }

  /** The text is complete. */
  end(): void {
    this.#ends.push(this.#length);
    this.#lines.push(this.#line);
    this.#start = this.#length;
    if (this.#length >= BATCH_BYTES) this.#close();
  }

  /** Forgets the text that is being collected. */
  drop(): void {
    this.#length = this.#start;
  }

  /** The text that is being collected. */
  current(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#length);
  }

  /** Of which kind what follows is, unless it says so itself. */
  of(list: ListKind | undefined): void {
    if (this.#ends.length > 0) this.#close();
    this.#list = list;
  }

  /** The batches that are complete. */
  take(): readonly Batch[] {
    return this.#full.splice(0);
  }

  /** All that is left; no text is being collected any more. */
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
    this.#full.push({ file, form, bytes, ends, ...(form === "yaml" && { lines }), ...(list && { list }) });
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
