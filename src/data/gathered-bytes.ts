/**
 * Joins bytes that arrive in pieces. Others choose how small the pieces are, and one that is kept by itself takes some 300 bytes beside its own: two megabytes,
 * sent byte by byte, would take 600.
 */

/** Bytes from which on a piece is kept as it is: its overhead is less than a tenth then. */
const LARGE_PIECE = 4 * 1024;
/** Bytes of the first block for smaller pieces, and of the largest: each has twice the bytes of the one before. */
const FIRST_BLOCK = 1024;
const LARGEST_BLOCK = 64 * 1024;

/** Gathers pieces. */
export class GatheredBytes {
  /** The first piece, as it came: most bodies and lines have only one. */
  #first: Uint8Array | undefined;
  /** The complete parts, in order. */
  #parts: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  /** The beginning of the block's bytes that are in no part yet. */
  #from = 0;
  #filled = 0;
  #size = 0;

  /** Number of bytes. */
  get size(): number {
    return this.#size;
  }

  /** Adds a piece, which must not change any more. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.#size === 0) this.#first = piece;
    else {
      if (this.#first !== undefined) this.#put(this.#first);
      this.#first = undefined;
      this.#put(piece);
    }
    this.#size += piece.length;
  }

  /** All bytes in one piece; afterwards there are none. */
  take(): Buffer {
    this.#endPart();
    const only = this.#first;
    const all =
      only === undefined
        ? Buffer.concat(this.#parts, this.#size)
        : Buffer.from(only.buffer, only.byteOffset, only.length);
    this.clear();
    return all;
  }

  /** Drops all bytes. */
  clear(): void {
    this.#first = undefined;
    this.#parts = [];
    this.#block = undefined;
    this.#from = this.#filled = this.#size = 0;
  }

  #put(piece: Uint8Array): void {
    // A piece that is a small part of a larger buffer would keep all of that in memory.
    if (piece.length >= LARGE_PIECE && 2 * piece.length >= piece.buffer.byteLength) {
      this.#endPart();
      this.#parts.push(piece);
      return;
    }
    for (let at = 0; at < piece.length; ) {
      const block = this.#blockWithRoom();
      const some = Math.min(piece.length - at, block.length - this.#filled);
      block.set(piece.subarray(at, at + some), this.#filled);
      this.#filled += some;
      at += some;
    }
  }

  #blockWithRoom(): Uint8Array {
    if (this.#block !== undefined && this.#filled < this.#block.length) return this.#block;
    this.#endPart();
    const size = Math.min(2 * (this.#block?.length ?? FIRST_BLOCK / 2), LARGEST_BLOCK);
    this.#block = Buffer.allocUnsafeSlow(size);
    this.#from = this.#filled = 0;
    return this.#block;
  }

  #endPart(): void {
    if (this.#block === undefined || this.#filled === this.#from) return;
    this.#parts.push(this.#block.subarray(this.#from, this.#filled));
    this.#from = this.#filled;
  }
}
