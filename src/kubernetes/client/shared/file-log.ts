/**
 * Logs in files that several processes of a server read. They are encrypted with a key that these processes alone have, and which is gone with them: objects
 * such as Secrets must not be left on a disk.
 */
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import type { ByteLog, LogPlace, LogSource } from "../byte-log.js";
import { paddedLength, readSealed, sealed } from "./sealed-file.js";

/** How long files stay open after their end for those who read a long list: longer than any request takes. */
const READERS_MS = 60_000;

/** A log that this process writes. */
export class FileLog implements ByteLog {
  size = 0;
  readonly place: LogPlace;
  readonly #file: number;
  readonly #key: Buffer;

  /** @throws what the system says when there can be no such file */
  constructor(place: LogPlace) {
    this.place = place;
    this.#key = Buffer.from(place.key, "base64");
    this.#file = openSync(place.path, "wx+", 0o600);
  }

  append(bytes: Uint8Array): number {
    const at = this.size;
    const record = sealed(bytes, this.#key, this.place.number, at);
    for (let written = 0; written < record.length; ) {
      written += writeSync(this.#file, record, written, record.length - written, at + written);
    }
    this.size += paddedLength(bytes.length);
    return at;
  }

  read(at: number, length: number): Buffer {
    return readSealed(this.#file, this.#key, this.place.number, at, length);
  }

  get source(): LogSource {
    return { kind: "file", place: this.place };
  }

  close(): void {
    later(() => {
      closeSync(this.#file);
      try {
        unlinkSync(this.place.path);
      } catch {
        // It went with its folder.
      }
    });
  }
}

/** A log that another process writes. */
export class FileLogReader implements ByteLog {
  readonly size = 0;
  readonly #file: number;
  readonly #key: Buffer;
  readonly source: LogSource;
  readonly #number: number;

  /** @throws what the system says when there is no such file */
  constructor(place: LogPlace) {
    this.source = { kind: "file", place };
    this.#file = openSync(place.path, "r");
    this.#key = Buffer.from(place.key, "base64");
    this.#number = place.number;
  }

  append(): number {
    throw new Error("another process writes this log");
  }

  read(at: number, length: number): Buffer {
    return readSealed(this.#file, this.#key, this.#number, at, length);
  }

  close(): void {
    later(() => closeSync(this.#file));
  }
}

function later(call: () => void): void {
  setTimeout(call, READERS_MS).unref();
}
