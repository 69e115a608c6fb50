/** Sources of resources: files, folders and standard input. */
import { createReadStream, readFileSync, type Stats } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifestFiles } from "../../data/manifest-files.js";
import { yamlText } from "../../data/yaml.js";
import { ScanError } from "./scan-error.js";

/** A file that can be read as often as needed, a piece at a time. */
export interface InputFile {
  /** Its name on the command line. */
  readonly name: string;
  /** The path that was named: the file's own, or a folder's. */
  readonly given: string;
  /** Whether a folder was named, which may hold other files than objects. */
  readonly inFolder: boolean;
  readonly bytes: number;
  /** Its chunks; each is valid until the next one is requested. */
  read(): AsyncIterable<Buffer>;
}

/** Bytes that are read at a time. */
const CHUNK_BYTES = 512 * 1024;
/** Bytes of standard input that are kept in memory; more go to a file, because resources are counted before they are evaluated. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Files taken from folders: manifests, and what only resources are written in. PEM files may have other purposes there. */
const IN_FOLDERS = /\.(?:ya?ml|json|jsonl|ndjson|csr)$/;

/** All sources of resources, with data that are kept until they are closed. */
export class Inputs {
  readonly #kept: KeptInput[] = [];
  #stdin: InputFile | undefined;

  /** Reads the whole standard input, which has the path `-`. */
  async takeStdin(stream: AsyncIterable<Buffer | string>): Promise<void> {
    this.#stdin = await this.#keep("-", stream);
  }

  /**
   * The files of paths, those of a folder to the bottom. A file that is not regular (a pipe, a device) can be read only once, and its length is unknown: it is kept.
   * @throws ScanError for a missing path
   */
  async files(paths: readonly string[]): Promise<InputFile[]> {
    const files: InputFile[] = [];
    for (const path of paths) {
      if (path === "-") {
        if (this.#stdin !== undefined) files.push(this.#stdin);
        continue;
      }
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw new ScanError(`stat ${path || '""'}: ${reasonOf(error)}`, { cause: error });
      });
      if (!found.isDirectory()) files.push(await this.#file(path, found));
      else {
        for (const inside of filesBelow(path)) {
          const file = await this.#file(inside, await stat(inside));
          files.push({ ...file, given: path, inFolder: true });
        }
      }
    }
    return files;
  }

  async #file(path: string, found: Stats): Promise<InputFile> {
    if (!found.isFile()) return await this.#keep(path, createReadStream(path));
    return named(path, found.size, () => chunksOfFile(path));
  }

  async #keep(name: string, stream: AsyncIterable<Buffer | string>): Promise<InputFile> {
    const kept = new KeptInput();
    this.#kept.push(kept);
    await kept.take(stream);
    return named(name, kept.bytes, () => kept.read());
  }

  /** Removes kept data. */
  async close(): Promise<void> {
    for (const kept of this.#kept) await kept.close();
  }
}

function filesBelow(folder: string): readonly string[] {
  try {
    return manifestFiles(folder, IN_FOLDERS);
  } catch (error) {
    throw new ScanError(`${folder}: ${reasonOf(error as NodeJS.ErrnoException)}`, { cause: error });
  }
}

const named = (name: string, bytes: number, read: InputFile["read"]): InputFile => ({
  name,
  given: name,
  inFolder: false,
  bytes,
  read,
});

async function* chunksOfFile(name: string): AsyncGenerator<Buffer> {
  const file = await open(name);
  try {
    yield* chunksOf(file);
  } finally {
    await file.close();
  }
}

/** The chunks of a file. Each is valid until the next one is requested: all share one buffer, since garbage of this size would stay for long. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/**
 * The first bytes of a file; default: all.
 * @throws ScanError for an unreadable file
 */
export async function beginningOf(file: InputFile, bytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of file.read()) {
      // A chunk is valid until the next one is requested.
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length >= bytes) break;
    }
  } catch (error) {
    throw new ScanError(`open ${file.name}: ${reasonOf(error as NodeJS.ErrnoException)}`, { cause: error });
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}

/**
 * The text of a named file.
 * @param refused makes the error of a reason; default: a ScanError
 */
export function textOf(path: string, refused = (reason: string): Error => new ScanError(reason)): string {
  try {
    return yamlText(readFileSync(path));
  } catch (error) {
    throw refused(`open ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

/** The text of a file system error for the command line. */
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

/** A file of input that can be read only once, and whose length is unknown before its end. */
class KeptInput {
  readonly #kept: Buffer[] = [];
  /** The spool file, already removed from its folder, so that nothing stays behind however the process ends. */
  #spool: FileHandle | undefined;
  bytes = 0;

  /** Reads the whole input. */
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

  /** Frees its disk space. */
  async close(): Promise<void> {
    await this.#spool?.close();
  }
}

/** A file that is removed when it is closed. */
async function namelessFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), "policy-server-"));
  try {
    return await open(join(folder, "input"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
