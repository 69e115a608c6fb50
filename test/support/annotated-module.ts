/** Modules with Kubewarden's metadata, made of those that lack it. */
import { readFileSync } from "node:fs";

/**
 * A module with this metadata section behind everything else.
 * @param path from the root of the repository
 */
export function annotated(path: string, metadata: unknown): Uint8Array {
  const name = "io.kubewarden.metadata";
  const text = Buffer.from(typeof metadata === "string" ? metadata : JSON.stringify(metadata));
  const module = readFileSync(new URL(`../../../${path}`, import.meta.url));
  return withSection(module, name, text);
}

/** A module with one more custom section. */
export function withSection(module: Uint8Array, name: string | Uint8Array, content: Uint8Array): Uint8Array {
  const title = Buffer.from(name);
  const body = Buffer.concat([Buffer.from([title.length]), title, content]);
  // The size as a LEB128 of four bytes.
  const size = [0, 7, 14].map((shift) => ((body.length >> shift) & 0x7f) | 0x80);
  return Buffer.concat([module, Buffer.from([0, ...size, body.length >> 21]), body]);
}
