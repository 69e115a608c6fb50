/**
 * The file of recorded requests. Several processes append to it, whole lines each; one of them puts it aside when it gets too long, and the
 * others notice: moving it away from outside (logrotate) does no harm either.
 */
import fs from "node:fs";
import type { SinkFile } from "../line-sink.js";

/** The mode of the file, which contains what users sent to the cluster: for its owner alone. */
const MODE = 0o600;
/** Interval of checks whether the file is still the one at its path, or too long. */
const LOOK_EVERY_MS = 1000;
/** Interval of messages that it can't be written. */
const COMPLAIN_EVERY_MS = 60_000;
const NEWLINE = 10;

/** Options of a record file. */
export interface RecordFileOptions {
  readonly path: string;
  /** Receives the reason why nothing is written, once a minute at most. */
  readonly complain: (error: NodeJS.ErrnoException) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Appends to the file at a path, even after that was replaced. */
export class RecordFile implements SinkFile {
  readonly #path: string;
  readonly #complain: (error: NodeJS.ErrnoException) => void;
  readonly #now: () => number;
  #fd: number | undefined;
  #looked = 0;
  #complained = Number.NEGATIVE_INFINITY;
  /** Whether the last write ended within a line. */
  #isTorn = false;

  /** Opens or creates it. @throws the system's error when it can't be written */
  constructor({ path, complain, now }: RecordFileOptions) {
    this.#path = path;
    this.#complain = complain;
    this.#now = now ?? (() => performance.now());
    this.#fd = openFile(path);
    this.#looked = this.#now();
  }

  readonly write = (text: Uint8Array, done: (error: NodeJS.ErrnoException | null, written: number) => void): void => {
    const finish = (error: NodeJS.ErrnoException | null, written: number): void => {
      this.#wrote(text, error, written);
      // Lines that can't be written now are lost: a full pipe empties itself, a full disk does not.
      done(error === null ? null : new Error(error.message), written);
    };
    try {
      fs.write(this.#current(), this.#untorn(text), (error, written) =>
        finish(error, error ? 0 : written - this.#torn()),
      );
    } catch (error) {
      finish(error as NodeJS.ErrnoException, 0);
    }
  };

  writeSync(text: Uint8Array): number {
    try {
      const written = fs.writeSync(this.#current(), this.#untorn(text)) - this.#torn();
      this.#wrote(text, null, written);
      return written;
    } catch (error) {
      this.#wrote(text, error as NodeJS.ErrnoException, 0);
      throw new Error("the record can't be written", { cause: error });
    }
  }

  pauseSync(): void {}

  /** Closes the file. */
  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** The text behind a line end, if the last line was cut. */
  #untorn(text: Uint8Array): Uint8Array {
    return this.#isTorn ? Buffer.concat([Buffer.from([NEWLINE]), text]) : text;
  }

  #torn(): number {
    return this.#isTorn ? 1 : 0;
  }

  #wrote(text: Uint8Array, error: NodeJS.ErrnoException | null, written: number): void {
    if (error === null) {
      // The rest follows: it is the next text that is written.
      this.#isTorn = false;
      this.#endsWithin = written > 0 && text[written - 1] !== NEWLINE;
      return;
    }
    if (this.#endsWithin) this.#isTorn = true;
    this.#endsWithin = false;
    const now = this.#now();
    if (now - this.#complained < COMPLAIN_EVERY_MS) return;
    this.#complained = now;
    this.#complain(error);
  }

  /** Whether the last written line is waiting for its rest. */
  #endsWithin = false;

  #current(): number {
    const now = this.#now();
    const fd = this.#fd;
    if (fd !== undefined && (this.#endsWithin || now - this.#looked < LOOK_EVERY_MS)) return fd;
    this.#looked = now;
    if (fd !== undefined) {
      if (isAt(this.#path, fd)) return fd;
      this.close();
    }
    const opened = openFile(this.#path);
    this.#fd = opened;
    return opened;
  }
}

/**
 * Puts the file aside, as `<path>.1` in place of an earlier one, when it is too long. For one process of a server.
 * @returns whether it did
 */
export function putAside(path: string, maxBytes: number): boolean {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size < maxBytes) return false;
  fs.renameSync(path, `${path}.1`);
  return true;
}

/** Puts the file aside whenever it gets too long. @returns ends that */
export function keepShort(
  path: string,
  maxBytes: number,
  complain: (error: NodeJS.ErrnoException) => void,
): () => void {
  let complained = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    try {
      putAside(path, maxBytes);
    } catch (error) {
      if (performance.now() - complained < COMPLAIN_EVERY_MS) return;
      complained = performance.now();
      complain(error as NodeJS.ErrnoException);
    }
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

function openFile(path: string): number {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  // Opening a pipe without a reader would wait forever.
  if (found !== undefined) checkFile(path, found);
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = fs.constants;
  const fd = fs.openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, MODE);
  try {
    checkFile(path, fs.fstatSync(fd));
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  try {
    // An existing file may be readable for others.
    fs.fchmodSync(fd, MODE);
  } catch {
    // It belongs to another user, who has set its mode.
  }
  return fd;
}

/** Refuses a link of either kind: it leads to a file that was made for something else, whose mode and readers are not ours to change. */
function checkFile(path: string, file: fs.Stats): void {
  if (file.isSymbolicLink()) throw new Error(`${path} is a link: name the file itself`);
  if (!file.isFile()) throw new Error(`${path} is not a regular file`);
  if (file.nlink > 1) throw new Error(`${path} is a file of several names: name one of its own`);
}

function isAt(path: string, fd: number): boolean {
  const at = fs.lstatSync(path, { throwIfNoEntry: false });
  const open = fs.fstatSync(fd);
  return at !== undefined && at.ino === open.ino && at.dev === open.dev;
}
