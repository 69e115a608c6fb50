/** A long JSON text as where its parts stand, so that another thread puts it together where it is wanted, and nowhere else. Plain data, which can be sent. */
import { closeSync, openSync } from "node:fs";
import type { LogSource } from "./byte-log.js";
import { paddedLength, readSealed } from "./shared/sealed-file.js";

/** A text: the head, the parts with commas between them, the tail. */
export interface TextPieces {
  /** Bytes of all of it. */
  readonly length: number;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly logs: readonly LogSource[];
  /** Three numbers a part: the index of its log, where it stands there, and its length. */
  readonly places: Float64Array;
}

/** What stands one after the other in a file is read at once, up to so many bytes. */
const RUN_BYTES = 1024 * 1024;
const COMMA = 0x2c;

/**
 * Writes a text.
 * @param into as many bytes as it has
 * @throws what the system says when a file cannot be read
 */
export function writePieces({ head, tail, logs, places, length }: TextPieces, into: Uint8Array): void {
  const readers = logs.map(readerOf);
  try {
    into.set(head);
    let at = head.length;
    for (let i = 0; i < places.length; ) {
      const log = places[i] ?? 0;
      const end = runEnd(places, i);
      const from = places[i + 1] ?? 0;
      const last = end - 3;
      const run = readers[log]?.read(from, (places[last + 1] ?? 0) + (places[last + 2] ?? 0) - from);
      if (run === undefined) throw new Error("a text has a part in no log");
      for (; i < end; i += 3) {
        if (i > 0) into[at++] = COMMA;
        const [start, size] = [(places[i + 1] ?? 0) - from, places[i + 2] ?? 0];
        into.set(run.subarray(start, start + size), at);
        at += size;
      }
    }
    into.set(tail, at);
    if (at + tail.length !== length) throw new Error("a text has another length than its parts");
  } finally {
    for (const reader of readers) reader.close();
  }
}

/** A text as a whole. */
export function wholeOf(pieces: TextPieces): Uint8Array {
  const whole = new Uint8Array(pieces.length);
  writePieces(pieces, whole);
  return whole;
}

/** The end of those places that stand one after the other. */
function runEnd(places: Float64Array, first: number): number {
  const [log, from = 0] = places.subarray(first);
  let end = first + 3;
  for (; end < places.length; end += 3) {
    const next = (places[end - 2] ?? 0) + paddedLength(places[end - 1] ?? 0);
    if (places[end] !== log || places[end + 1] !== next || next - from > RUN_BYTES) break;
  }
  return end;
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
  return {
    read: (at, length) => readSealed(file, key, place.number, at, length),
    close: () => closeSync(file),
  };
}

function readBlock({ blocks, stride }: Extract<LogSource, { kind: "memory" }>, at: number, length: number): Uint8Array {
  const block = blocks[Math.floor(at / stride)];
  if (block === undefined) throw new Error("a log has no such place");
  return block.subarray(at % stride, (at % stride) + length);
}
