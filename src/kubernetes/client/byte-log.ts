/** The file of a log, and the key to read it. */
export interface LogPlace {
  /** A number that counts up: no two logs of a server have the same. */
  readonly number: number;
  readonly path: string;
  /** The cipher's key, base64. */
  readonly key: string;
}

/** The source from which another thread reads a log. Plain data. */
export type LogSource =
  | { readonly kind: "file"; readonly place: LogPlace }
  /** Blocks of shared memory: a place is `block * stride + offset`. */
  | { readonly kind: "memory"; readonly blocks: readonly Uint8Array[]; readonly stride: number };

/** Bytes that are appended and never change, so that any record may be read at any time. */
export interface ByteLog {
  /** Bytes used. */
  readonly size: number;
  /** @returns the place of the bytes */
  append(bytes: Uint8Array): number;
  /** @param at a result of {@link append} */
  read(at: number, length: number): Buffer;
  /** The bytes so far, for another thread; absent: only this thread can read them. */
  readonly source?: LogSource;
  /** Ends writing. Readers that have begun may continue for a while. */
  close(): void;
}

/** Sizes of blocks: they double, because most lists are short. */
const FIRST_BLOCK = 4 * 1024;
const LARGEST_BLOCK = 1024 * 1024;
/** Least distance of two blocks' places: no record is longer. */
const STRIDE = 2 ** 26;

/** A log in this process' memory, outside of the heap, where its threads can read it. */
export class MemoryLog implements ByteLog {
  size = 0;
  readonly #blocks: Buffer[] = [];
  #used = 0;

  append(bytes: Uint8Array): number {
    const { length } = bytes;
    let block = this.#blocks.at(-1);
    if (block === undefined || block.length - this.#used < length) {
      const next = block === undefined ? FIRST_BLOCK : Math.min(LARGEST_BLOCK, 2 * block.length);
      block = Buffer.from(new SharedArrayBuffer(Math.max(next, length)));
      this.#blocks.push(block);
      this.#used = 0;
      this.size += block.length;
    }
    const at = (this.#blocks.length - 1) * STRIDE + this.#used;
    block.set(bytes, this.#used);
    this.#used += length;
    return at;
  }

  read(at: number, length: number): Buffer {
    const from = at % STRIDE;
    const block = this.#blocks[Math.floor(at / STRIDE)];
    if (block === undefined) throw new Error("a log has no such place");
    return block.subarray(from, from + length);
  }

  get source(): LogSource {
    return { kind: "memory", blocks: this.#blocks.map((block) => new Uint8Array(block.buffer)), stride: STRIDE };
  }

  close(): void {}
}
