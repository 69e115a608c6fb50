/** Which file a log is, and how it is read. */
export interface LogPlace {
  /** Counts up: no two logs of a server have the same. */
  readonly number: number;
  readonly path: string;
  /** Of the cipher, base64. */
  readonly key: string;
}

/** How another thread reads a log. Plain data. */
export type LogSource =
  | { readonly kind: "file"; readonly place: LogPlace }
  /** Blocks of shared memory: a place is `block * stride + offset`. */
  | { readonly kind: "memory"; readonly blocks: readonly Uint8Array[]; readonly stride: number };

/** Bytes that are appended and never change, so that whoever knows where something stands may read it at any time. */
export interface ByteLog {
  /** Bytes that it takes. */
  readonly size: number;
  /** @returns where they stand */
  append(bytes: Uint8Array): number;
  /** @param at as {@link append} has said */
  read(at: number, length: number): Buffer;
  /** What there is by now, for another thread; absent: only this one can read it. */
  readonly source?: LogSource;
  /** Nobody appends any more. Who has begun to read may go on for a while. */
  close(): void;
}

/** Sizes of blocks: they double, because most lists are short. */
const FIRST_BLOCK = 4 * 1024;
const LARGEST_BLOCK = 1024 * 1024;
/** What places of one block are told by: no record is longer. */
const STRIDE = 2 ** 26;

/** In this process' memory, outside of the heap, where its threads can read it. */
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
