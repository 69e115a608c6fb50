import { isAscii, isUtf8 } from "node:buffer";
import { notJson, type RequestProblem } from "./request-problem.js";

/** The same bytes as a Buffer. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A body as text, or the problem with one that is not UTF-8. */
export function bodyText(bytes: Uint8Array): string | RequestProblem {
  const buffer = asBuffer(bytes);
  // One byte a character is cheaper to make, to keep and to parse.
  if (isAscii(buffer)) return buffer.toString("latin1");
  if (isUtf8(buffer)) return buffer.toString("utf8");
  const before = buffer.toString("utf8").split("\ufffd", 1)[0] ?? "";
  const line = before.split("\n").length;
  const column = Buffer.byteLength(before.slice(before.lastIndexOf("\n") + 1)) + 1;
  return notJson(`invalid unicode code point at line ${line} column ${column}`);
}
