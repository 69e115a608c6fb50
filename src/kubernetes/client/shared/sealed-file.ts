/** Encrypts and decrypts records of files that are encrypted by blocks: see file-log.ts. */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { readSync } from "node:fs";

const CIPHER = "aes-256-ctr";
/** Bytes of the cipher's block: records begin at blocks, so that each can be read by itself, or several that follow each other at once. */
const BLOCK_BYTES = 16;
/** Bytes of a key. */
export const KEY_BYTES = 32;

/** Bytes that a record takes. */
export const paddedLength = (length: number): number => Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES;

/** The cipher's counter at a place: nothing is ever written twice to one place of one number. */
function initial(number: number, at: number): Buffer {
  const counter = Buffer.alloc(BLOCK_BYTES);
  counter.writeBigUInt64BE(BigInt(number), 0);
  counter.writeBigUInt64BE(BigInt(at / BLOCK_BYTES), 8);
  return counter;
}

/** The encrypted bytes for a place. */
export const sealed = (bytes: Uint8Array, key: Buffer, number: number, at: number): Buffer =>
  createCipheriv(CIPHER, key, initial(number, at)).update(bytes);

/**
 * The bytes at a place.
 * @param number the log's number
 * @param room a buffer for as many bytes, which is overwritten
 */
export function readSealed(
  file: number,
  key: Buffer,
  number: number,
  at: number,
  length: number,
  room = Buffer.allocUnsafe(length),
): Buffer {
  const read = room.subarray(0, length);
  for (let done = 0; done < length; ) {
    const some = readSync(file, read, done, length - done, at + done);
    if (some === 0) throw new Error("a log ends before its entry");
    done += some;
  }
  return createDecipheriv(CIPHER, key, initial(number, at)).update(read);
}
