/** Takes what comes piece by piece. */
export interface ByteSink {
  /** Called before the first piece. @param announced bytes, where those who send have said so; they may send less */
  begin?(announced: number | undefined): void;
  /** The next piece comes when this is done. */
  take(piece: Uint8Array): Promise<void> | void;
}

/** A sink can't keep what comes: its file can't be written. */
export class CannotKeep extends Error {
  override readonly name = "CannotKeep";
}

/** Collects pieces: in one buffer where their size is announced, else they are put together at the end. */
export class Collected implements ByteSink {
  #buffer: Buffer | undefined;
  #pieces: Buffer[] = [];
  #size = 0;

  begin(announced: number | undefined): void {
    // Not of a shared pool: it is to go as soon as nobody needs it.
    if (announced !== undefined) this.#buffer = Buffer.allocUnsafeSlow(announced);
  }

  take(piece: Uint8Array): void {
    if (this.#buffer === undefined) this.#pieces.push(Buffer.from(piece));
    else if (this.#size + piece.length > this.#buffer.length) throw new Error("more bytes come than were announced");
    else this.#buffer.set(piece, this.#size);
    this.#size += piece.length;
  }

  get bytes(): Buffer {
    return this.#buffer?.subarray(0, this.#size) ?? Buffer.concat(this.#pieces);
  }
}
