/** Compression of texts (spec kyverno.md 4.6). */
import { gunzipSync, gzipSync } from "node:zlib";
import { BYTES, CelError, DYN, type FunctionDeclaration, type Result, STRING, type Value } from "../../../cel/index.js";
import { functions, growing } from "./declare.js";
import { nativeText } from "./native-text.js";

/** Most octets that are compressed: some 50 ms where the text has few characters in no order, which takes longest. */
export const MOST_COMPRESSED = 2 ** 18;
/** Most octets of a decompressed text: more than an object in a cluster may have, in some 40 ms where they are not a text. */
export const MOST_DECOMPRESSED = 2 * 2 ** 20;

const HEADER_LENGTH = 10;
/** The place of the operating system in the header: Go writes "unknown". */
const SYSTEM_AT = 9;
const UNKNOWN_SYSTEM = 0xff;

const HEADER_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["incorrect header check", "gzip: invalid header"],
  ["unknown compression method", "gzip: invalid header"],
]);

function compress(value: Value): Result {
  const text = nativeText(value);
  if (text instanceof CelError) return text;
  if (text.length > MOST_COMPRESSED || Buffer.byteLength(text) > MOST_COMPRESSED)
    return new CelError("too large to be compressed", "too-large");
  const octets = new Uint8Array(gzipSync(text));
  octets[SYSTEM_AT] = UNKNOWN_SYSTEM;
  return octets;
}

/** The result of the option `info`, which the types lack. */
interface Unpacked {
  readonly buffer: Buffer;
  /** The number of octets read. */
  readonly engine: { readonly bytesWritten: number };
}

function decompress(octets: Uint8Array): Result {
  if (octets.length < HEADER_LENGTH) return new CelError(octets.length === 0 ? "EOF" : "unexpected EOF");
  try {
    const { buffer, engine } = gunzipSync(octets, {
      maxOutputLength: MOST_DECOMPRESSED,
      info: true,
    }) as unknown as Unpacked;
    // Zeros behind the last member are ignored otherwise.
    return engine.bytesWritten < octets.length ? new CelError("unexpected EOF", "conversion") : buffer.toString("utf8");
  } catch (error) {
    return problemOf(error);
  }
}

/** The error in the words of Go's reader, which has no limit. */
function problemOf(error: unknown): CelError {
  const { code, message = "" } = error as { readonly code?: string; readonly message?: string };
  if (code === "ERR_BUFFER_TOO_LARGE") return new CelError("too large to be decompressed", "too-large");
  const problem = message.startsWith("incorrect") ? "gzip: invalid checksum" : "flate: corrupt input";
  return new CelError(
    code === "Z_BUF_ERROR" ? "unexpected EOF" : (HEADER_PROBLEMS.get(message) ?? problem),
    "conversion",
  );
}

/** `gzip.compress` and `gzip.decompress`. */
export const GZIP_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...functions(["gzip.compress"], "compress_any_bytes", [DYN], BYTES, compress, { ...growing(200), fixed: 20_000 }),
  ...functions(["gzip.decompress"], "decompress_bytes_string", [BYTES], STRING, decompress, {
    ...growing(200),
    fixed: 20_000,
  }),
];
