/** Error texts for files that are not WebAssembly modules, or that the engine does not accept. */

/** The layer of the binary format that components have, behind `\0asm`. */
const COMPONENT = [0x0d, 0x00, 0x01, 0x00] as const;
const MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;
const GZIP = [0x1f, 0x8b] as const;

/** Describes a file that does not begin as a core module: most often it is one of a few other formats. */
export function describeNonModule(bytes: Uint8Array): string {
  if (bytes.length === 0) return "it is empty";
  const starts = (wanted: readonly number[], at = 0) => wanted.every((byte, index) => bytes[at + index] === byte);
  if (starts(MAGIC) && starts(COMPONENT, MAGIC.length))
    return "it is a WebAssembly component; policies are core modules, built for a target such as wasm32-wasip1";
  if (starts(MAGIC)) return "it is cut off, or of a version of WebAssembly that is not known";
  if (starts(GZIP)) return "it is compressed";
  const text = Buffer.from(bytes.subarray(0, 256)).toString("latin1").trimStart();
  if (text.startsWith("(module") || text.startsWith(";;")) return "it is WebAssembly's text format, not compiled";
  if (text.startsWith("<")) return "it is a web page or XML";
  return "it does not begin as a WebAssembly module does";
}

/** The first major version of Node.js that has typed function references and garbage collection, which newer compilers use. */
const NODE_WITH_REFERENCES = 22;

/**
 * The reason why the engine refuses a module. Only the engine's message names the missing feature, so it is searched there; only this text depends on
 * it.
 * @param reason the engine's message
 * @param version of Node.js
 */
export function compileErrorText(reason: string, version: string): string {
  const plain = reason.replace(/^WebAssembly\.\w+\(\): /, "");
  const feature = /, enable with --experimental-wasm-\S+/.exec(plain);
  if (feature === null || Number.parseInt(version, 10) >= NODE_WITH_REFERENCES) return plain;
  return `${plain.replace(feature[0], "")}: it may use what only Node.js ${NODE_WITH_REFERENCES} and later have, and this is ${version}`;
}
