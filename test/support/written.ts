import type { Readable } from "node:stream";

/** What has been written to a stream so far and nobody has read. Newer versions of Node give one write for a `read()`, older ones all of them. */
export function written(stream: Readable): string {
  const pieces: string[] = [];
  for (let piece: unknown = stream.read(); piece !== null; piece = stream.read()) pieces.push(String(piece));
  return pieces.join("");
}
