/**
 * Lines to a file descriptor, in batches and without waiting: `process.stdout` blocks the whole process while a pipe is full, and a slow
 * collector of logs must not stop admissions. What doesn't fit the buffer is dropped and counted.
 */
import fs from "node:fs";

/** A batch is written when it has this many characters … */
const BATCH_CHARACTERS = 64 * 1024;
/** … or when its first line is this old: often enough for eyes, rarely enough to cost nothing. */
const BATCH_MS = 20;
/** Characters that may wait for a slow reader: some seconds of decision records at full speed. */
const BUFFER_CHARACTERS = 8 * 1024 * 1024;
/** Pause before trying a full pipe again. */
const RETRY_MS = 5;

/** Where finished lines go. */
export interface LineSink {
  /** Takes one line without its newline. Never blocks, never throws. */
  write(line: string): void;
  /** Writes out what is buffered before returning: for the end of the process. */
  flushSync(): void;
  /** Lines lost because the reader was too slow. */
  readonly dropped: number;
}

type WriteDone = (error: NodeJS.ErrnoException | null, written: number) => void;

/** How the sink writes; replaced in tests. */
export interface SinkFile {
  write(text: Uint8Array, done: WriteDone): void;
  writeSync(text: Uint8Array): number;
}

/** What a pipe takes in one piece whoever else writes to it (PIPE_BUF on Linux). */
const ATOMIC_BYTES = 4096;

/**
 * A sink on an open file descriptor.
 * @param shared whether other processes write to it too: lines then don't get mixed, except some longer than 4 KiB
 */
export function createLineSink(fd: number, shared = false): LineSink {
  const file: SinkFile = {
    write: (text, done) => fs.write(fd, text, done),
    writeSync: (text) => fs.writeSync(fd, text),
  };
  return new BatchingSink(file, shared ? ATOMIC_BYTES : Number.POSITIVE_INFINITY);
}

/** A sink over any file-like thing. */
export class BatchingSink implements LineSink {
  readonly #file: SinkFile;
  readonly #atomic: number;
  #lines = "";
  /** What a write under way has not written yet. */
  #writing: Uint8Array | undefined;
  #timer: NodeJS.Timeout | undefined;
  dropped = 0;

  /** @param atomic bytes that are written in one piece: no write is longer, unless a single line is */
  constructor(file: SinkFile, atomic = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#atomic = atomic;
  }

  write(line: string): void {
    if (this.#lines.length + line.length > BUFFER_CHARACTERS) {
      this.dropped += 1;
      return;
    }
    this.#lines += `${line}\n`;
    if (this.#writing !== undefined) return;
    if (this.#lines.length >= BATCH_CHARACTERS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS).unref();
  }

  flushSync(): void {
    const rest = [this.#writing ?? new Uint8Array(), Buffer.from(this.#lines)];
    this.#lines = "";
    this.#writing = undefined;
    let left: Uint8Array = Buffer.concat(rest);
    try {
      while (left.length > 0) left = left.subarray(this.#file.writeSync(left));
    } catch {
      // The reader has gone or the pipe is full at the end of the process: nothing more can be done for these lines.
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines === "" || this.#writing !== undefined) return;
    this.#writing = Buffer.from(this.#lines);
    this.#lines = "";
    this.#continue();
  }

  #continue(): void {
    const batch = this.#writing;
    if (batch === undefined) return;
    this.#file.write(this.#piece(batch), (error, written) => {
      // flushSync may have taken over meanwhile.
      if (this.#writing !== batch) return;
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#continue(), RETRY_MS).unref();
        return;
      }
      this.#writing = error === null && written < batch.length ? batch.subarray(written) : undefined;
      if (this.#writing === undefined) this.#flush();
      else this.#continue();
    });
  }

  /** As many whole lines of a batch as may be written at once. */
  #piece(batch: Uint8Array): Uint8Array {
    if (batch.length <= this.#atomic) return batch;
    const within = batch.lastIndexOf(NEWLINE, this.#atomic - 1);
    const end = within === -1 ? batch.indexOf(NEWLINE) : within;
    return end === -1 ? batch : batch.subarray(0, end + 1);
  }
}

const NEWLINE = 10;
