/** The encoders extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { Library } from "../declarations.js";
import { overloadFn } from "../declare.js";
import { BYTES, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import type { Result } from "../values/value.js";

/** Four characters with proper padding in the last four, or no padding at all; line breaks anywhere. */
const PADDED = /^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4}|)$/;

const illegal = (index: number): CelError => new CelError(`illegal base64 data at input byte ${index}`);

function decode(text: string): Result {
  const plain = text.replace(/[\r\n]/g, "");
  const unpadded = plain.length % 4 === 0 && PADDED.test(plain.slice(-4)) ? plain.replace(/=+$/, "") : plain;
  if (/^[A-Za-z0-9+/]*$/.test(unpadded)) {
    return unpadded.length % 4 === 1 ? illegal(text.length - 1) : new Uint8Array(Buffer.from(unpadded, "base64"));
  }
  const bad = text.search(/[^A-Za-z0-9+/\r\n]/);
  return illegal(Buffer.byteLength(text.slice(0, bad)));
}

/** `base64.encode` and `base64.decode`. */
export const encodersLibrary: Library = {
  name: "encoders",
  functions: [
    overloadFn("base64.decode", "base64_decode_string", [STRING], BYTES, decode),
    overloadFn("base64.encode", "base64_encode_bytes", [BYTES], STRING, (octets: Uint8Array) =>
      Buffer.from(octets).toString("base64"),
    ),
  ],
};
