/** Reads lines of bytes from chunks. Each byte is read once, however small the chunks and long the lines are. */
import { GatheredBytes } from "./gathered-bytes.js";

const LINE_FEED = 0x0a;

/** One instance per stream. */
export class LineReader {
  readonly #line = new GatheredBytes();

  /** Number of bytes of the unfinished line. */
  get pending(): number {
    return this.#line.size;
  }

  /** Lines that end in a chunk, with their line feeds. Complete ones are parts of the chunk; the rest of it must not change afterwards. */
  *push(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      const end = chunk.subarray(from, at + 1);
      from = at + 1;
      if (this.#line.size === 0) yield end;
      else {
        this.#line.add(end);
        yield this.#line.take();
      }
    }
    this.#line.add(chunk.subarray(from));
  }

  /** The unfinished line so far; it is dropped. */
  take(): Buffer {
    return this.#line.take();
  }
}
