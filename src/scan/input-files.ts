/** Where resources come from: files, folders and standard input. */
import type { Dirent } from "node:fs";
import { mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScanError } from "./scan-error.js";

/** A file that can be read as often as needed, a piece at a time. */
export interface InputFile {
  /** As it was named. */
  readonly name: string;
  readonly bytes: number;
  /** Its chunks; each is good until the next one is asked for. */
  read(): AsyncIterable<Buffer>;
}

/** Bytes that are read at a time. */
const CHUNK_BYTES = 512 * 1024;
/** What is kept of standard input in memory; beyond that it goes to a file, because resources are counted before they are looked at. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** What is taken of folders, which are not searched further (spec kyverno.md 8.2). JSON stands there for other things as well. */
const IN_FOLDERS = /\.(?:ya?ml|jsonl|ndjson)$/;

/**
 * The files that paths stand for.
 * @throws ScanError for what isn't there
 */
export async function inputFiles(paths: readonly string[], stdin: InputFile | undefined): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const path of paths) {
    if (path === "-") {
      if (stdin !== undefined) files.push(stdin);
      continue;
    }
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw new ScanError(`stat ${path}: ${reasonOf(error)}`, { cause: error });
    });
    if (!found.isDirectory()) files.push(fileAt(path, found.size));
    else {
      const names = (await readdir(path, { withFileTypes: true })).filter(isTaken).map(({ name }) => name);
      for (const name of names.sort()) {
        const inside = join(path, name);
        files.push(fileAt(inside, (await stat(inside)).size));
      }
    }
  }
  return files;
}

const isTaken = (entry: Dirent): boolean => !entry.isDirectory() && IN_FOLDERS.test(entry.name);

const fileAt = (name: string, bytes: number): InputFile => ({
  name,
  bytes,
  read: () => chunksOf(name),
});

/** Each chunk is good until the next one is asked for: one piece of memory serves for all, where garbage of this size would wait long to be collected. */
async function* chunksOf(name: string): AsyncGenerator<Buffer> {
  const file = await open(name);
  try {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** What a failure of the file system is called on a command line. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ENOENT":
      return "no such file or directory";
    case "EACCES":
      return "permission denied";
    case "EISDIR":
      return "is a directory";
    default:
      return error.message;
  }
}

/** Standard input as a file: how long it is, nobody knows before its end. */
export class StandardInput implements InputFile {
  readonly name = "-";
  readonly #kept: Buffer[] = [];
  #folder: string | undefined;
  bytes = 0;

  /** Reads all of it. */
  async take(stream: AsyncIterable<Buffer | string>): Promise<void> {
    const written = stream[Symbol.asyncIterator]();
    for (let next = await written.next(); !next.done; next = await written.next()) {
      const chunk = typeof next.value === "string" ? Buffer.from(next.value) : next.value;
      this.bytes += chunk.length;
      this.#kept.push(chunk);
      if (this.bytes > KEPT_BYTES) return await this.#spool(written);
    }
  }

  async #spool(rest: AsyncIterator<Buffer | string>): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), "policy-server-"));
    const file = await open(join(this.#folder, "input"), "wx", 0o600);
    try {
      for (const chunk of this.#kept.splice(0)) await file.appendFile(chunk);
      for (let next = await rest.next(); !next.done; next = await rest.next()) {
        const chunk = typeof next.value === "string" ? Buffer.from(next.value) : next.value;
        this.bytes += chunk.length;
        await file.appendFile(chunk);
      }
    } finally {
      await file.close();
    }
  }

  read(): AsyncIterable<Buffer> {
    if (this.#folder !== undefined) return fileAt(join(this.#folder, "input"), this.bytes).read();
    return (async function* (chunks: readonly Buffer[]) {
      yield* chunks;
    })(this.#kept);
  }

  /** Removes what was kept. */
  async close(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
