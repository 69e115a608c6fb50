import { describeNonModule } from "../../wasm/index.js";

/** The first bytes of a core module: its magic number, and version 1. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00] as const;

/** The reason why bytes are not a WebAssembly module, by their beginning; undefined when they begin as one. */
export function moduleProblem(bytes: Uint8Array): string | undefined {
  return HEADER.every((byte, index) => bytes[index] === byte) ? undefined : describeNonModule(bytes);
}
