/** Shows the progress of a long run, in one line of a terminal. */
import type { Writable } from "node:stream";

/** Milliseconds before it is shown: a shorter run needs none. */
const PATIENCE_MS = 1_000;
/** Milliseconds between two updates. */
const INTERVAL_MS = 200;
/** Columns of the bar. */
const WIDTH = 30;

/** The progress on standard error, if that is a terminal. */
export class Progress {
  readonly #stream: Writable;
  readonly #total: number;
  readonly #now: () => number;
  readonly #began: number;
  #shown = Number.NEGATIVE_INFINITY;
  #visible = false;

  /** @param now monotonic milliseconds */
  constructor(stream: Writable, total: number, now: () => number) {
    this.#stream = stream;
    this.#total = total;
    this.#now = now;
    this.#began = now();
  }

  /** @param done the finished part of the total */
  at(done: number): void {
    const now = this.#now();
    if (now - this.#began < PATIENCE_MS || now - this.#shown < INTERVAL_MS) return;
    this.#shown = now;
    this.#visible = true;
    const part = this.#total === 0 ? 1 : Math.min(done / this.#total, 1);
    const filled = Math.round(part * WIDTH);
    const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
    this.#stream.write(`\r${bar} ${Math.floor(part * 100)} % (${done} of ${this.#total})\u001b[K`);
  }

  /** Removes the line, before anything else is printed. */
  clear(): void {
    if (!this.#visible) return;
    this.#visible = false;
    this.#shown = Number.NEGATIVE_INFINITY;
    this.#stream.write("\r\u001b[K");
  }
}
