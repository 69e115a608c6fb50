/** Modules with Kubewarden's metadata, made of those that lack it. */
import { readFileSync } from "node:fs";

/**
 * A module with this metadata section behind everything else.
 * @param path from the root of the repository
 */
export function annotated(path: string, metadata: unknown): Uint8Array {
  const name = Buffer.from("io.kubewarden.metadata");
  const text = Buffer.from(typeof metadata === "string" ? metadata : JSON.stringify(metadata));
  const body = Buffer.concat([Buffer.from([name.length]), name, text]);
  // The size as a LEB128 of two bytes.
  const size = Buffer.from([(body.length & 0x7f) | 0x80, body.length >> 7]);
  const module = readFileSync(new URL(`../../../${path}`, import.meta.url));
  return Buffer.concat([module, Buffer.from([0]), size, body]);
}
