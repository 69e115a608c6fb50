/** Bytes that are appended and never change, so that whoever knows where something stands may read it at any time. */
export interface ByteLog {
  /** Bytes that it takes. */
  readonly size: number;
  /** @returns where they stand */
  append(bytes: Uint8Array): number;
  /** @param at as {@link append} has said */
  read(at: number, length: number): Buffer;
  /** Nobody appends any more. Who has begun to read may go on for a while. */
  close(): void;
}

/** Sizes of blocks: they double, because most lists are short. */
const FIRST_BLOCK = 4 * 1024;
const LARGEST_BLOCK = 1024 * 1024;
/** What places of one block are told by: no record is longer. */
const STRIDE = 2 ** 26;

/** In this process' memory, outside of the heap. */
export class MemoryLog implements ByteLog {
  size = 0;
  readonly #blocks: Buffer[] = [];
  #used = 0;

  append(bytes: Uint8Array): number {
    const { length } = bytes;
    let block = this.#blocks.at(-1);
    if (block === undefined || block.length - this.#used < length) {
      const next = block === undefined ? FIRST_BLOCK : Math.min(LARGEST_BLOCK, 2 * block.length);
      block = Buffer.allocUnsafeSlow(Math.max(next, length));
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

  close(): void {}
}
