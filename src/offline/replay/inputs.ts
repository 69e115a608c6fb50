/** Reads files, folders and standard input piece by piece: recordings may be very long. */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { UsageError } from "../../data/command-io.js";
import { reasonOf } from "../scan/input-files.js";

/** An input. */
export interface Input {
  /** Its name on the command line. */
  readonly name: string;
  /** Size in bytes; 0 if unknown. */
  readonly bytes: number;
  /**
   * Its content, decompressed if needed.
   * @param read receives the number of bytes read
   */
  open(read: (bytes: number) => void): AsyncIterable<Buffer>;
}

/** Files taken from folders, which are not searched further; rotated recordings, too. */
const IN_FOLDERS = /\.(?:ya?ml|json|jsonl|ndjson|log)(?:\.\d+)?(?:\.gz)?$/;
const GZIP = Buffer.from([0x1f, 0x8b]);

/** The inputs of paths; `-` is standard input. @throws UsageError for a missing path */
export async function inputsOf(paths: readonly string[], stdin: Readable): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) {
    if (path === "-") {
      inputs.push({ name: "-", bytes: 0, open: () => unpacked(stdin) });
      continue;
    }
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${path}: ${reasonOf(error)}`);
    });
    if (!found.isDirectory()) inputs.push(fileInput(path, found.size));
    else {
      const names = (await readdir(path)).filter((name) => IN_FOLDERS.test(name)).sort(byTime);
      for (const name of names) {
        const inside = await stat(join(path, name));
        if (inside.isFile()) inputs.push(fileInput(join(path, name), inside.size));
      }
    }
  }
  return inputs;
}

/** Sorts by time: a rotated file (`FILE.1`) is older than the file. */
function byTime(a: string, b: string): number {
  const [stemA = "", numberA = 0] = numbered(a);
  const [stemB = "", numberB = 0] = numbered(b);
  if (stemA !== stemB) return stemA < stemB ? -1 : 1;
  return numberB - numberA;
}

function numbered(name: string): readonly [string, number] {
  const plain = name.replace(/\.gz$/, "");
  const found = /^(.*)\.(\d{1,6})$/.exec(plain);
  return found === null ? [plain, 0] : [found[1] ?? "", Number(found[2])];
}

const fileInput = (name: string, bytes: number): Input => ({
  name,
  bytes,
  open: (read) => {
    const stream = createReadStream(name, { highWaterMark: 256 * 1024 });
    stream.on("data", (chunk) => read(chunk.length));
    stream.pause();
    return unpacked(stream);
  },
});

/** Decompresses a stream if its first bytes show compression. */
async function* unpacked(stream: Readable): AsyncGenerator<Buffer> {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer | string>;
  let head = Buffer.alloc(0);
  let ended = false;
  while (head.length < GZIP.length && !ended) {
    const { value, done } = await pieces.next();
    if (done === true) ended = true;
    else head = Buffer.concat([head, bytesOf(value)]);
  }
  const rest = async function* (): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    if (ended) return;
    for await (const piece of pieces) yield bytesOf(piece);
  };
  if (!head.subarray(0, GZIP.length).equals(GZIP)) yield* rest();
  else {
    const { Readable: Source } = await import("node:stream");
    const source = Source.from(rest(), { objectMode: false });
    const gunzip = createGunzip();
    source.on("error", (error) => gunzip.destroy(error));
    yield* source.pipe(gunzip) as AsyncIterable<Buffer>;
  }
}

const bytesOf = (piece: Buffer | string): Buffer => (typeof piece === "string" ? Buffer.from(piece) : piece);
