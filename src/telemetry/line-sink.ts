/**
 * Writes lines to a file descriptor, in batches and without waiting: `process.stdout` blocks the whole process while a pipe is full, and a slow
 * collector of logs must not stop admissions. Lines that do not fit into the buffer are dropped and counted.
 */
import fs from "node:fs";

/** A batch is written when it has this many bytes … */
const BATCH_BYTES = 64 * 1024;
/** … or when its first line is this old: often enough for people, rarely enough to cost nothing. */
const BATCH_MS = 20;
/** Most bytes that UTF-8 takes for a UTF-16 unit. */
const MOST_BYTES_OF_UNIT = 3;
/** Characters that may wait for a slow reader, behind a batch: some seconds of decision records at full speed. */
const BUFFER_CHARACTERS = 8 * 1024 * 1024;
/** Pause before trying a full pipe again. */
const RETRY_MS = 5;
/** How long the end of the process waits for a slow reader: enough for a busy one, little beside the grace of a stop. */
export const FLUSH_WITHIN_MS = 500;

/** A destination of complete lines. */
export interface LineSink {
  /** Takes one line without its newline. Never blocks, never throws. */
  write(line: string): void;
  /** Writes the buffer before it returns, within {@link FLUSH_WITHIN_MS}, and drops the rest: for the end of the process. */
  flushSync(): void;
  /** Number of lines lost because the reader was too slow. */
  readonly dropped: number;
}

/** The file operations of the sink; replaced in tests. */
export interface SinkFile {
  /** Writes outside of the main thread. Absent when {@link writeSync} never waits. */
  readonly write?:
    | ((text: Uint8Array, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void)
    | undefined;
  /** Writes at once; throws EAGAIN when nothing can be written now. */
  writeSync(text: Uint8Array): number;
  /** Blocks for some milliseconds. */
  pauseSync(milliseconds: number): void;
}

/** Bytes that a pipe takes in one piece whichever other processes write to it (PIPE_BUF on Linux). */
const ATOMIC_BYTES = 4096;

/**
 * A sink on an open file descriptor.
 * @param shared whether other processes write to it too: lines then don't get mixed, except some longer than 4 KiB
 * @param handle Node's own stream on the same descriptor, when it is a pipe, a socket or a terminal
 */
export function createLineSink(fd: number, shared = false, handle?: NonBlocking): LineSink {
  const file = handle === undefined ? plainFile(fd) : streamFile(fd, handle);
  return new BatchingSink(file, shared ? ATOMIC_BYTES : Number.POSITIVE_INFINITY);
}

/** A stream that can be made non-blocking. */
export interface NonBlocking {
  /** Sets the mode of the descriptor from now on, for all that share it. */
  setBlocking(blocking: boolean): unknown;
}

/** The handle of `process.stdout` and the like; undefined for files, and where Node has none. */
export function handleOf(stream: object): NonBlocking | undefined {
  const handle: unknown = "_handle" in stream ? stream._handle : undefined;
  return typeof handle === "object" && handle !== null && "setBlocking" in handle ? (handle as NonBlocking) : undefined;
}

/** A file, which may be slow, so that it is written outside of the main thread; but it has no reader that could make it wait forever. */
function plainFile(fd: number): SinkFile {
  return {
    write: (text, done) => fs.write(fd, text, done),
    writeSync: (text) => fs.writeSync(fd, text),
    pauseSync,
  };
}

/**
 * A pipe, socket or terminal. Whether a write blocks is a property of the pipe and not of this process: starting another process, or the end of one, switches
 * it for all. And a blocking write outside of the main thread can't be cancelled: even the end of the process would wait for it. So the mode is set anew before
 * every write, which then takes only as much as fits, at once.
 */
function streamFile(fd: number, handle: NonBlocking): SinkFile {
  return {
    writeSync: (text) => {
      handle.setBlocking(false);
      return fs.writeSync(fd, text);
    },
    pauseSync,
  };
}

function pauseSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** A sink over any file. */
export class BatchingSink implements LineSink {
  readonly #file: SinkFile;
  readonly #atomic: number;
  /**
   * The next batch. Bytes, not a text: lines that wait for 20 ms as strings would be found by V8's collector of young
   * objects, and be moved among the old ones.
   */
  #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #filled = 0;
  /** Lines behind it, which do not fit. */
  #behind = "";
  /** The other of two batches: one is written while the other is filled. */
  #spare = Buffer.allocUnsafeSlow(BATCH_BYTES);
  /** The part of a batch that is not written yet. */
  #writing: Uint8Array | undefined;
  /** Whether it is being written outside of the main thread. */
  #beside = false;
  #timer: NodeJS.Timeout | undefined;
  dropped = 0;

  /** @param atomic bytes that are written in one piece: no write is longer, unless a single line is */
  constructor(file: SinkFile, atomic = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#atomic = atomic;
  }

  write(line: string): void {
    if (this.#behind.length + line.length > BUFFER_CHARACTERS) {
      this.dropped += 1;
      return;
    }
    if (!this.#append(line)) {
      this.#flush();
      // After a write there is room for it; otherwise it waits.
      if (!this.#append(line)) this.#behind += `${line}\n`;
    }
    if (this.#writing === undefined) this.#flushSoon();
  }

  /** @returns whether it did fit into the batch */
  #append(line: string): boolean {
    if (this.#behind !== "") return false;
    const room = BATCH_BYTES - this.#filled - 1;
    if (line.length * MOST_BYTES_OF_UNIT > room && Buffer.byteLength(line) > room) return false;
    this.#filled += this.#batch.write(line, this.#filled);
    this.#batch[this.#filled++] = NEWLINE;
    return true;
  }

  flushSync(): void {
    const rest = [this.#batch.subarray(0, this.#filled), Buffer.from(this.#behind)];
    // A write under way is not repeated: the end of the process waits for it anyway.
    if (this.#writing !== undefined && !this.#beside) {
      rest.unshift(Buffer.from(this.#writing));
      this.#writing = undefined;
    }
    let left: Uint8Array = Buffer.concat(rest);
    this.#filled = 0;
    this.#behind = "";
    let patience = FLUSH_WITHIN_MS / RETRY_MS;
    while (left.length > 0) {
      try {
        left = left.subarray(this.#file.writeSync(this.#piece(left)));
      } catch (error) {
        // The reader has gone, or is stuck: the process ends all the same.
        if (!isFull(error) || patience <= 0) break;
        patience -= 1;
        this.#file.pauseSync(RETRY_MS);
      }
    }
    this.dropped += linesIn(left);
  }

  /** Writes a complete batch at once, and a smaller one with the lines that come until then. */
  #flushSoon(): void {
    if (this.#filled === BATCH_BYTES || this.#behind !== "") this.#flush();
    else if (this.#filled > 0) this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    if (this.#filled > 0) {
      this.#writing = this.#batch.subarray(0, this.#filled);
      [this.#batch, this.#spare] = [this.#spare, this.#batch];
      this.#filled = 0;
    } else if (this.#behind !== "") {
      this.#writing = Buffer.from(this.#behind);
      this.#behind = "";
    }
    this.#continue();
  }

  #continue(): void {
    const batch = this.#writing;
    if (batch === undefined || this.#beside) return;
    if (this.#file.write === undefined) {
      this.#writeNow(batch);
      return;
    }
    this.#beside = true;
    this.#file.write(this.#piece(batch), (error, written) => {
      this.#beside = false;
      this.#wrote(batch, error, written);
    });
  }

  /** Writes as much as fits, but no more than a batch: others have their turn too. */
  #writeNow(batch: Uint8Array): void {
    let written = 0;
    let failure: NodeJS.ErrnoException | null = null;
    try {
      while (written < batch.length && written < BATCH_BYTES) {
        written += this.#file.writeSync(this.#piece(batch.subarray(written)));
      }
    } catch (error) {
      failure = error as NodeJS.ErrnoException;
    }
    this.#wrote(batch, failure, written);
  }

  #wrote(batch: Uint8Array, error: NodeJS.ErrnoException | null, written: number): void {
    this.#writing = written < batch.length ? batch.subarray(written) : undefined;
    if (isFull(error)) {
      setTimeout(() => this.#continue(), RETRY_MS).unref();
      return;
    }
    if (error !== null) {
      this.dropped += linesIn(batch.subarray(written));
      this.#writing = undefined;
    }
    if (this.#writing !== undefined) setImmediate(() => this.#continue());
    else this.#flushSoon();
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

const isFull = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EAGAIN";

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === NEWLINE) lines += 1;
  return lines;
}
