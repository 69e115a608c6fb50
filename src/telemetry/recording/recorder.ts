/**
 * Writes answered requests after their answers: they wait in a queue of bounded size, and become lines a few at a time, while
 * requests have their turn. Where there are too many to be written, some are left out and counted: no request is delayed by its record.
 */
import type { LineSink } from "../line-sink.js";
import { Credentials } from "./credentials.js";
import { type AnsweredReview, recordLine } from "./record-line.js";

/** Most bytes of waiting bodies; their parsed values take some times as much. */
const WAITING_BYTES = 8 * 1024 * 1024;
/** Bytes counted for a request with a small body. */
const LEAST_BYTES = 512;
/** Longest request that is recorded: making a longer line would delay others. */
const LONGEST_BYTES = 3 * 1024 * 1024;
/** Milliseconds for lines before others get their turn. */
const SLICE_MS = 1;

/** Receives answered requests. */
export interface RequestRecorder {
  /** Records a request. Never waits, never throws. */
  record(answered: AnsweredReview): void;
}

/** Options of a recorder. */
export interface RecorderOptions {
  readonly sink: LineSink;
  /** One of so many answered requests is written; 1: all. */
  readonly every: number;
  /** Milliseconds since 1970. */
  readonly wall?: () => number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Runs a function once others had their turn. */
  readonly later?: (run: () => void) => unknown;
}

interface Waiting extends AnsweredReview {
  readonly time: number;
}

/** A recorder over a sink. */
export class Recorder implements RequestRecorder {
  readonly #sink: LineSink;
  readonly #every: number;
  readonly #wall: () => number;
  readonly #now: () => number;
  readonly #later: (run: () => void) => unknown;
  readonly #credentials = new Credentials();
  #waiting: Waiting[] = [];
  #bytes = 0;
  #seen = 0;
  #leftOut = 0;
  #isDue = false;

  constructor({ sink, every, wall, now, later }: RecorderOptions) {
    this.#sink = sink;
    this.#every = every;
    this.#wall = wall ?? (() => Date.now());
    this.#now = now ?? (() => performance.now());
    this.#later = later ?? setImmediate;
  }

  /** Number of requests that should have been written and were not. */
  get dropped(): number {
    return this.#leftOut + this.#sink.dropped;
  }

  record(answered: AnsweredReview): void {
    this.#seen += 1;
    if (this.#seen < this.#every) return;
    this.#seen = 0;
    const { bytes } = answered;
    if (bytes > LONGEST_BYTES || this.#bytes >= WAITING_BYTES) {
      this.#leftOut += 1;
      return;
    }
    this.#bytes += Math.max(bytes, LEAST_BYTES);
    this.#waiting.push({ ...answered, time: this.#wall() });
    this.#soon();
  }

  /** Writes all waiting requests before it returns: for the end of the process. */
  flushSync(): void {
    for (const waiting of this.#waiting.splice(0)) this.#write(waiting);
    this.#sink.flushSync();
  }

  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#later(this.#run);
  }

  readonly #run = (): void => {
    this.#isDue = false;
    const ends = this.#now() + SLICE_MS;
    let done = 0;
    for (const waiting of this.#waiting) {
      this.#write(waiting);
      done += 1;
      if (this.#now() >= ends) break;
    }
    this.#waiting = done === this.#waiting.length ? [] : this.#waiting.slice(done);
    if (this.#waiting.length > 0) this.#soon();
  };

  #write(waiting: Waiting): void {
    this.#bytes -= Math.max(waiting.bytes, LEAST_BYTES);
    try {
      this.#sink.write(recordLine(waiting, waiting.time, this.#credentials));
    } catch {
      // By contract this never happens; a record is not worth a process.
      this.#leftOut += 1;
    }
  }
}
