/**
 * Logs in files that several processes of a server read. They are encrypted with a key that only these processes have, and which ends with them: objects
 * such as Secrets must not stay on a disk.
 */
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import type { ByteLog, LogPlace, LogSource } from "../byte-log.js";
import { ClusterUnreachable } from "../errors.js";
import { paddedLength, readSealed, sealed } from "./sealed-file.js";

/** How long files stay open after their end for readers of a long list: longer than any request takes. */
const READERS_MS = 60_000;

/** A log that this process writes. */
export class FileLog implements ByteLog {
  size = 0;
  readonly place: LogPlace;
  readonly #file: OpenFile;
  readonly #key: Buffer;

  /** @throws the system's error when the file cannot be created */
  constructor(place: LogPlace) {
    this.place = place;
    this.#key = Buffer.from(place.key, "base64");
    this.#file = new OpenFile(place.path, "wx+");
    this.#file.number();
  }

  append(bytes: Uint8Array): number {
    const at = this.size;
    const record = sealed(bytes, this.#key, this.place.number, at);
    const file = this.#file.number();
    for (let written = 0; written < record.length; ) {
      written += writeSync(file, record, written, record.length - written, at + written);
    }
    this.size += paddedLength(bytes.length);
    return at;
  }

  read(at: number, length: number): Buffer {
    return readSealed(this.#file.number(), this.#key, this.place.number, at, length);
  }

  get source(): LogSource {
    return { kind: "file", place: this.place };
  }

  close(): void {
    this.#file.closeLater(() => {
      try {
        unlinkSync(this.place.path);
      } catch {
        // It was removed with its folder.
      }
    });
  }
}

/** A log that another process writes. */
export class FileLogReader implements ByteLog {
  readonly size = 0;
  readonly #file: OpenFile;
  readonly #key: Buffer;
  readonly source: LogSource;
  readonly #number: number;

  constructor(place: LogPlace) {
    this.source = { kind: "file", place };
    this.#file = new OpenFile(place.path, "r");
    this.#key = Buffer.from(place.key, "base64");
    this.#number = place.number;
  }

  append(): number {
    throw new Error("another process writes this log");
  }

  /** @throws the system's error when the file does not exist, or cannot be opened now */
  read(at: number, length: number): Buffer {
    return readSealed(this.#file.number(), this.#key, this.#number, at, length);
  }

  close(): void {
    this.#file.closeLater(() => {});
  }
}

/** A file that is opened when it is first needed, since too many may be open before. */
class OpenFile {
  readonly #path: string;
  readonly #flags: string;
  #number: number | undefined;
  #closed = false;

  constructor(path: string, flags: string) {
    this.#path = path;
    this.#flags = flags;
  }

  /**
   * Its descriptor.
   * @throws the system's error, or that it was closed: the number may be another file's by now
   */
  number(): number {
    if (this.#closed) throw new ClusterUnreachable("what was watched is not there any more");
    this.#number ??= openSync(this.#path, this.#flags, 0o600);
    return this.#number;
  }

  /** Refuses new readers; current ones may continue for {@link READERS_MS}. */
  closeLater(closed: () => void): void {
    setTimeout(() => {
      if (this.#closed) return;
      this.#closed = true;
      if (this.#number !== undefined) closeSync(this.#number);
      closed();
    }, READERS_MS).unref();
  }
}
