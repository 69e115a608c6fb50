/** Decodes the bytes of files to texts. */
import { isUtf8 } from "node:buffer";
import { parseJson } from "../json.js";
import { spaceEnd } from "./chunks.js";
import { jsonBlanksEnd, jsonEnd } from "./json-stream.js";

/** Marks of the byte order of UTF-16. */
const LITTLE_ENDIAN = 0xfffe;
const BIG_ENDIAN = 0xfeff;
/** A noncharacter, which is forbidden in YAML: its place is an error. */
const NO_CHARACTER = "\ufffe";

/**
 * The text of a file of YAML. Bytes that are not UTF-8 are an error in their document; in JSON they become U+FFFD.
 * UTF-16 is read where Kubernetes reads it: with a mark, the higher byte first.
 */
export function yamlText(file: Uint8Array): string {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  if (mark === BIG_ENDIAN && bytes.length % 2 === 0) return Buffer.from(bytes).swap16().toString("utf16le");
  // Lines are read as ending with one byte, which leaves half of a line feed in the other byte order of UTF-16.
  if (mark === LITTLE_ENDIAN) return NO_CHARACTER;
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    at += Math.max(length, 1);
    if (length > 0) continue;
    text += bytes.toString("utf8", from, at - 1) + NO_CHARACTER;
    from = at;
  }
  return withReplacements(text + bytes.toString("utf8", from));
}

/** The text with U+FFFD in the JSON that it begins with, which Go's reader of JSON puts in place of every byte that is not UTF-8. */
function withReplacements(text: string): string {
  if (!text.startsWith("{", spaceEnd(text, 0))) return text;
  let json = "";
  for (;;) {
    const end = jsonEnd(text, jsonBlanksEnd(text, json.length));
    const part = end === -1 ? "" : text.slice(json.length, end).replaceAll(NO_CHARACTER, "\ufffd");
    if (!isJson(part)) return json + text.slice(json.length);
    json += part;
  }
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** Bytes of the character that begins at a place, 0 for an invalid one. */
export function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  return length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}
