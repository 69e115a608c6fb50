/** Lines of bytes that come in chunks. Each byte is looked at once, however small the chunks and long the lines are. */
import { GatheredBytes } from "./gathered-bytes.js";

const LINE_FEED = 0x0a;

/** One use per stream. */
export class LineReader {
  readonly #line = new GatheredBytes();

  /** Bytes of the line that has no end yet. */
  get pending(): number {
    return this.#line.size;
  }

  /** Lines that end in a chunk, with their line feeds. Those that it holds whole are parts of it; what it holds of the next one must not change after it. */
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

  /** The line that has no end, as far as it came; it is forgotten. */
  take(): Buffer {
    return this.#line.take();
  }
}
