/** Bytes of files as texts. */
import { isUtf8 } from "node:buffer";

/** Marks that say in which order the bytes of UTF-16 stand. */
const LITTLE_ENDIAN = 0xfffe;
const BIG_ENDIAN = 0xfeff;
/** No character, and forbidden in YAML: where it stands, it is an error. */
const NO_CHARACTER = "\ufffe";

/**
 * The text of a file that is to be read as YAML. Bytes that are no UTF-8 are an error there, in the document that they stand in; in JSON they become U+FFFD.
 * UTF-16 is read where Kubernetes reads it: with a mark, the higher byte first.
 */
export function yamlText(file: Uint8Array): string {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  if (mark === BIG_ENDIAN && bytes.length % 2 === 0) return Buffer.from(bytes).swap16().toString("utf16le");
  // Lines are taken to end with one byte, which the last character of the other kind of UTF-16 has one too many of.
  if (mark === LITTLE_ENDIAN) return NO_CHARACTER;
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const text = bytes.toString("utf8");
  if (/^\s*\{/.test(text)) return text;
  let at = 0;
  for (let length = 1; length > 0; at += length) length = characterLength(bytes, at);
  return bytes.toString("utf8", 0, at) + NO_CHARACTER + bytes.toString("utf8", at + 1);
}

/** Bytes of the character that begins at a place, 0 where none does. */
export function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  return length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}
