/** Splits a file of any format into resources while it is being read. */
import type { Batch } from "./batch.js";
import { JsonSplitter } from "./json-splitter.js";
import { YamlSplitter } from "./yaml-splitter.js";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The resources of a file in order. Its first character shows whether it is JSON: objects, lists and JSON lines; everything else is YAML.
 * @throws ScanError for text that can't be a resource
 */
export async function* split(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch> {
  let splitter: JsonSplitter | YamlSplitter | undefined;
  let head: Buffer | undefined;
  for await (const chunk of chunks) {
    let bytes = head === undefined ? chunk : Buffer.concat([head, chunk]);
    if (splitter === undefined) {
      if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
        bytes = bytes.subarray(BYTE_ORDER_MARK.length);
      }
      const first = bytes.length < BYTE_ORDER_MARK.length ? undefined : firstCharacter(bytes);
      head = first === undefined ? Buffer.from(bytes) : undefined;
      if (first === undefined) continue;
      splitter = first === "{" || first === "[" ? new JsonSplitter(file) : new YamlSplitter(file);
    }
    yield* splitter.push(bytes);
  }
  if (splitter === undefined && head !== undefined) {
    splitter = new YamlSplitter(file);
    yield* splitter.push(head);
  }
  if (splitter !== undefined) yield* splitter.finish();
}

/** The first character that is not white space. */
function firstCharacter(bytes: Buffer): string | undefined {
  for (const byte of bytes) if (byte > 0x20) return String.fromCharCode(byte);
  return undefined;
}
