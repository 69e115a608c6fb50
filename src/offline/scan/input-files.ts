/** Where resources come from: files, folders and standard input. */
import { createReadStream, type Dirent, type Stats } from "node:fs";
import { type FileHandle, mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
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
/** What is taken of folders, which are not searched further (spec kyverno.md 8.2). JSON and PEM stand there for other things as well. */
const IN_FOLDERS = /\.(?:ya?ml|jsonl|ndjson|csr)$/;

/** All that resources are read from, with what of it is kept until they are closed. */
export class Inputs {
  readonly #kept: KeptInput[] = [];
  #stdin: InputFile | undefined;

  /** Reads all of standard input: the path `-` stands for it. */
  async takeStdin(stream: AsyncIterable<Buffer | string>): Promise<void> {
    this.#stdin = await this.#keep("-", stream);
  }

  /**
   * The files that paths stand for. What is no regular file (a pipe, a device) can be read once only, and nobody knows how long it is: it is kept.
   * @throws ScanError for what isn't there
   */
  async files(paths: readonly string[]): Promise<InputFile[]> {
    const files: InputFile[] = [];
    for (const path of paths) {
      if (path === "-") {
        if (this.#stdin !== undefined) files.push(this.#stdin);
        continue;
      }
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw new ScanError(`stat ${path}: ${reasonOf(error)}`, { cause: error });
      });
      if (!found.isDirectory()) files.push(await this.#file(path, found));
      else {
        const names = (await readdir(path, { withFileTypes: true })).filter(isTaken).map(({ name }) => name);
        for (const name of names.sort()) {
          const inside = join(path, name);
          files.push(await this.#file(inside, await stat(inside)));
        }
      }
    }
    return files;
  }

  async #file(path: string, found: Stats): Promise<InputFile> {
    return found.isFile() ? fileAt(path, found.size) : await this.#keep(path, createReadStream(path));
  }

  async #keep(name: string, stream: AsyncIterable<Buffer | string>): Promise<InputFile> {
    const kept = new KeptInput(name);
    this.#kept.push(kept);
    await kept.take(stream);
    return kept;
  }

  /** Gives up what was kept. */
  async close(): Promise<void> {
    for (const kept of this.#kept) await kept.close();
  }
}

const isTaken = (entry: Dirent): boolean => !entry.isDirectory() && IN_FOLDERS.test(entry.name);

const fileAt = (name: string, bytes: number): InputFile => ({
  name,
  bytes,
  read: () => chunksOfFile(name),
});

async function* chunksOfFile(name: string): AsyncGenerator<Buffer> {
  const file = await open(name);
  try {
    yield* chunksOf(file);
  } finally {
    await file.close();
  }
}

/** Each chunk is good until the next one is asked for: one piece of memory serves for all, where garbage of this size would wait long to be collected. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
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

/** What can be read once only, as a file: how long it is, nobody knows before its end. */
class KeptInput implements InputFile {
  readonly name: string;
  readonly #kept: Buffer[] = [];
  /** Has no name any more, so that nothing stays behind however the process ends. */
  #spool: FileHandle | undefined;
  bytes = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Reads all of it. */
  async take(stream: AsyncIterable<Buffer | string>): Promise<void> {
    for await (const next of stream) {
      const chunk = typeof next === "string" ? Buffer.from(next) : next;
      this.bytes += chunk.length;
      if (this.#spool === undefined) {
        this.#kept.push(chunk);
        if (this.bytes > KEPT_BYTES) this.#spool = await namelessFile();
      }
      if (this.#spool === undefined) continue;
      if (this.#kept.length === 0) await this.#spool.appendFile(chunk);
      else for (const kept of this.#kept.splice(0)) await this.#spool.appendFile(kept);
    }
  }

  read(): AsyncIterable<Buffer> {
    if (this.#spool !== undefined) return chunksOf(this.#spool);
    return (async function* (chunks: readonly Buffer[]) {
      yield* chunks;
    })(this.#kept);
  }

  /** Gives its memory on the disk back. */
  async close(): Promise<void> {
    await this.#spool?.close();
  }
}

/** A file that is gone when it is closed. */
async function namelessFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), "policy-server-"));
  try {
    return await open(join(folder, "input"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
