/** Texts compressed and back (spec kyverno.md 4.6). */
import { gunzipSync, gzipSync } from "node:zlib";
import { BYTES, CelError, DYN, type FunctionDeclaration, type Result, STRING, type Value } from "../../../cel/index.js";
import { functions, growing } from "./declare.js";
import { nativeText } from "./native-text.js";

/** Characters that are compressed: some 50 ms. */
export const MOST_COMPRESSED = 2 ** 20;
/** Octets that come out of what is decompressed: as many as a whole request has, in some 20 ms. */
export const MOST_DECOMPRESSED = 4 * 2 ** 20;

const HEADER_LENGTH = 10;
/** Where the header says which system made it: Go's says that it does not know. */
const SYSTEM_AT = 9;
const UNKNOWN_SYSTEM = 0xff;

function compress(value: Value): Result {
  const text = nativeText(value);
  if (text instanceof CelError) return text;
  if (text.length > MOST_COMPRESSED) return new CelError("too large to be compressed", "too-large");
  const octets = new Uint8Array(gzipSync(text));
  octets[SYSTEM_AT] = UNKNOWN_SYSTEM;
  return octets;
}

function decompress(octets: Uint8Array): Result {
  if (octets.length < HEADER_LENGTH) return new CelError(octets.length === 0 ? "EOF" : "unexpected EOF");
  try {
    return gunzipSync(octets, { maxOutputLength: MOST_DECOMPRESSED }).toString("utf8");
  } catch (error) {
    return new CelError(problemOf(error), "conversion");
  }
}

/** In the words of Go's reader. */
function problemOf(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === "ERR_BUFFER_TOO_LARGE") return "too large to be decompressed";
  if (code === "Z_BUF_ERROR") return "unexpected EOF";
  if (message === "incorrect header check" || message === "unknown compression method") return "gzip: invalid header";
  return message?.startsWith("incorrect") ? "gzip: invalid checksum" : "flate: corrupt input";
}

/** `gzip.compress` and `gzip.decompress`. */
export const GZIP_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...functions(["gzip.compress"], "compress_any_bytes", [DYN], BYTES, compress, { ...growing(50), fixed: 20_000 }),
  ...functions(["gzip.decompress"], "decompress_bytes_string", [BYTES], STRING, decompress, {
    ...growing(200),
    fixed: 20_000,
  }),
];
