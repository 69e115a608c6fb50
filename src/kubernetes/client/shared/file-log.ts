/**
 * Logs in files that several processes of a server read. They are encrypted with a key that these processes alone have, and which is gone with them: objects
 * such as Secrets must not be left on a disk.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import type { ByteLog } from "../byte-log.js";

const CIPHER = "aes-256-ctr";
/** Of the cipher: records begin at blocks, so that each can be read alone. */
const BLOCK_BYTES = 16;
/** Bytes of a key. */
export const KEY_BYTES = 32;
/** How long files stay open after their end for those who read a long list: longer than any request takes. */
const READERS_MS = 60_000;

/** Which log it is, and how it is read. */
export interface LogPlace {
  /** Counts up: no two logs of a server have the same. */
  readonly number: number;
  readonly path: string;
  /** {@link KEY_BYTES} of base64. */
  readonly key: string;
}

/** Where the cipher stands: nothing is ever written twice to one place. */
function initial(number: number, at: number): Buffer {
  const counter = Buffer.alloc(BLOCK_BYTES);
  counter.writeBigUInt64BE(BigInt(number), 0);
  counter.writeBigUInt64BE(BigInt(at / BLOCK_BYTES), 8);
  return counter;
}

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
    const sealed = createCipheriv(CIPHER, this.#key, initial(this.place.number, at)).update(bytes);
    for (let written = 0; written < sealed.length; ) {
      written += writeSync(this.#file, sealed, written, sealed.length - written, at + written);
    }
    this.size += Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES;
    return at;
  }

  read(at: number, length: number): Buffer {
    return readSealed(this.#file, this.#key, this.place.number, at, length);
  }

  close(): void {
    try {
      unlinkSync(this.place.path);
    } catch {
      // It went with its folder.
    }
    closeLater(this.#file);
  }
}

/** A log that another process writes. */
export class FileLogReader implements ByteLog {
  readonly size = 0;
  readonly #file: number;
  readonly #key: Buffer;
  readonly #number: number;

  /** @throws what the system says when there is no such file */
  constructor({ path, key, number }: LogPlace) {
    this.#file = openSync(path, "r");
    this.#key = Buffer.from(key, "base64");
    this.#number = number;
  }

  append(): number {
    throw new Error("another process writes this log");
  }

  read(at: number, length: number): Buffer {
    return readSealed(this.#file, this.#key, this.#number, at, length);
  }

  close(): void {
    closeLater(this.#file);
  }
}

function closeLater(file: number): void {
  setTimeout(() => closeSync(file), READERS_MS).unref();
}

function readSealed(file: number, key: Buffer, number: number, at: number, length: number): Buffer {
  const sealed = Buffer.allocUnsafe(length);
  for (let read = 0; read < length; ) {
    const some = readSync(file, sealed, read, length - read, at + read);
    if (some === 0) throw new Error("a log ends before its entry");
    read += some;
  }
  return createDecipheriv(CIPHER, key, initial(number, at)).update(sealed);
}
