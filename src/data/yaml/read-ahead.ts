import type { Cursor } from "./cursor.js";

/** Bytes that Kubernetes' reader reads at a time. */
const BLOCK_BYTES = 512;

/**
 * Whether the forbidden character at a cursor's end is found though the document ends before it. Kubernetes' reader checks a block of bytes when it
 * needs the first of them, so such a character a little behind a document is an error, and one far behind it is not.
 * @param start the beginning of the document
 */
export function isReadAhead(cursor: Cursor, start: number): boolean {
  const needed = bytesBetween(cursor.text, start, Math.min(cursor.at + 1, cursor.end)) + 1;
  const forbidden = bytesBetween(cursor.text, start, cursor.end);
  if (forbidden - needed > BLOCK_BYTES) return false;
  const bytes = Buffer.from(withoutReturns(cursor.text.slice(start, cursor.end + 1)));
  let end = BLOCK_BYTES;
  // A character that is cut in two by the end of a block is read with the next one.
  while (end < needed) end += BLOCK_BYTES - cutBytes(bytes, end);
  return forbidden < end;
}

const withoutReturns = (text: string): string => text.replaceAll("\r\n", "\n");

function bytesBetween(text: string, start: number, end: number): number {
  return Buffer.byteLength(withoutReturns(text.slice(start, end)));
}

/** Bytes of the last character before an offset, if it continues behind it. */
function cutBytes(bytes: Buffer, end: number): number {
  let first = end;
  while (first > 0 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first--;
  return end - first;
}
