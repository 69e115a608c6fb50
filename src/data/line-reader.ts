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

  /** Lines that end in a chunk, without their line feeds. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#line.add(chunk.subarray(from, at));
      from = at + 1;
      yield this.#line.take();
    }
    this.#line.add(chunk.subarray(from));
  }

  /** The line that has no end, as far as it came; it is forgotten. */
  take(): Buffer {
    return this.#line.take();
  }
}
