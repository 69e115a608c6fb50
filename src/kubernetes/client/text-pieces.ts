/** A long JSON text as the places of its parts, so that another thread joins it where it is needed, and nowhere else. Plain data, which can be sent. */
import { closeSync, openSync } from "node:fs";
import type { LogSource } from "./byte-log.js";
import { readSealed } from "./shared/sealed-file.js";

/** A text: the head, the parts with commas between them, the tail. */
export interface TextPieces {
  /** Bytes of the whole text. */
  readonly length: number;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly logs: readonly LogSource[];
  /** Three numbers a part: the index of its log, its place there, and its length. */
  readonly places: Float64Array;
}

/**
 * Most bytes of adjacent parts that are read at once: memory of this size is taken from a pool, while a larger piece would be allocated
 * by the system, cleared, and start the garbage collector.
 */
const RUN_BYTES = 64 * 1024;
/** Most unused bytes in between that are read, too: about the cost of another read. */
const GAP_BYTES = 8 * 1024;
const COMMA = 0x2c;

/**
 * Writes a text.
 * @param into a buffer of the text's length
 * @throws the system's error when a file cannot be read
 */
export function writePieces({ head, tail, logs, places, length }: TextPieces, into: Uint8Array): void {
  const count = places.length / 3;
  const targets = new Float64Array(count);
  into.set(head);
  let at = head.length;
  for (let i = 0; i < count; i++) {
    if (i > 0) into[at++] = COMMA;
    targets[i] = at;
    at += places[3 * i + 2] ?? 0;
  }
  into.set(tail, at);
  if (at + tail.length !== length) throw new Error("a text has another length than its parts");
  const readers = logs.map(readerOf);
  try {
    // In the order of the logs, whatever the order of the parts.
    const order = inLogs(places);
    for (let first = 0; first < count; ) {
      const [log, from, size] = placeAt(places, order, first);
      let end = from + size;
      let next = first + 1;
      for (; next < count; next++) {
        const [itsLog, itsFrom, itsSize] = placeAt(places, order, next);
        if (itsLog !== log || itsFrom - end > GAP_BYTES || itsFrom + itsSize - from > RUN_BYTES) break;
        end = itsFrom + itsSize;
      }
      const run = readers[log]?.read(from, end - from);
      if (run === undefined) throw new Error("a text has a part in no log");
      for (; first < next; first++) {
        const [, itsFrom, itsSize] = placeAt(places, order, first);
        into.set(run.subarray(itsFrom - from, itsFrom - from + itsSize), targets[order[first] ?? 0]);
      }
    }
  } finally {
    for (const reader of readers) reader.close();
  }
}

/** Indices of places, by log and place in it. */
function inLogs(places: Float64Array): Uint32Array {
  const order = new Uint32Array(places.length / 3);
  for (let i = 0; i < order.length; i++) order[i] = i;
  const compare = (a: number, b: number): number =>
    (places[3 * a] ?? 0) - (places[3 * b] ?? 0) || (places[3 * a + 1] ?? 0) - (places[3 * b + 1] ?? 0);
  return order.sort(compare);
}

function placeAt(places: Float64Array, order: Uint32Array, index: number): readonly [number, number, number] {
  const i = 3 * (order[index] ?? 0);
  return [places[i] ?? 0, places[i + 1] ?? 0, places[i + 2] ?? 0];
}

/** A text as a whole. */
export function wholeOf(pieces: TextPieces): Uint8Array {
  const whole = new Uint8Array(pieces.length);
  writePieces(pieces, whole);
  return whole;
}

interface Reader {
  read(at: number, length: number): Uint8Array;
  close(): void;
}

function readerOf(source: LogSource): Reader {
  if (source.kind === "memory") return { read: (at, length) => readBlock(source, at, length), close: () => {} };
  const { place } = source;
  const key = Buffer.from(place.key, "base64");
  const file = openSync(place.path, "r");
  const room = Buffer.allocUnsafe(RUN_BYTES);
  return {
    read: (at, length) =>
      readSealed(file, key, place.number, at, length, length <= RUN_BYTES ? room : Buffer.allocUnsafe(length)),
    close: () => closeSync(file),
  };
}

function readBlock({ blocks, stride }: Extract<LogSource, { kind: "memory" }>, at: number, length: number): Uint8Array {
  const block = blocks[Math.floor(at / stride)];
  if (block === undefined) throw new Error("a log has no such place");
  return block.subarray(at % stride, (at % stride) + length);
}
