import { createHash, randomBytes, scryptSync } from "node:crypto";
import { mkdir, open, readFile, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { type ByteSink, CannotKeep, Collected } from "./byte-sink.js";
import { formatImageReference, parseImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES, MAX_MODULE_BYTES } from "./limits.js";
import { hashLike } from "./registry-client.js";

/** Longest name of a file that every file system takes; longer ones are replaced by their digest. */
const MAX_NAME_LENGTH = 200;
/** Ends the name of a file that holds the digest of the file beside it. */
export const DIGEST_SUFFIX = ".digest";
/** Ends the name of a file that holds the manifest by whose digest the file beside it was asked for. */
export const MANIFEST_SUFFIX = ".manifest";
/** Ends the name of a file that is being written. */
export const PART_SUFFIX = ".part";
/** Begins the name of a file that is written in the system's folder for files that pass. */
export const PASSING_PREFIX = "policy-module-";
/** Bytes of a file that are read, and hashed, at a time: two milliseconds of the main thread. */
const PIECE_BYTES = 1024 * 1024;
/** How costly a guess of a password is for those who read names of files: ten milliseconds (N of scrypt). */
const LOGIN_COST = 4096;

/** How every module begins. */
const WASM_MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;

/** A file with its content's size, in bytes, and digest (`sha256:<hex>`). */
export interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly digest: string;
}

/**
 * Downloaded modules in a folder, laid out as Kubewarden does (spec kubewarden.md 1.6), so that a folder filled by either serves both:
 * `<folder>/<scheme>/<host[:port]>/<path…>/<file[:tag]>`. Beside each file stands its digest: a damaged file is not reused.
 */
export class DownloadCache {
  readonly #folder: string;
  /** By location: a login's takes long to find. */
  readonly #paths = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path at which a module is kept. */
  path(location: string): string {
    const path = this.#paths.get(location) ?? this.#pathOf(location);
    this.#paths.set(location, path);
    return path;
  }

  #pathOf(location: string): string {
    const colon = location.indexOf("://");
    const scheme = location.slice(0, colon);
    if (scheme !== "registry") return this.#join(scheme, httpParts(new URL(location)));
    const image = parseImageReference(location.slice(colon + 3));
    return this.#join(scheme, formatImageReference(image).split("/"));
  }

  /** The module, when it is there, whole and of allowed size; its bytes are hashed each time. What is found is the last one to be removed. */
  async find(location: string): Promise<KeptFile | undefined> {
    const path = this.path(location);
    try {
      const { size } = await stat(path);
      if (size > MAX_MODULE_BYTES) return undefined;
      const kept = { path, size, digest: await hashFile(path) };
      const noted = await readFile(path + DIGEST_SUFFIX, "utf8").catch(() => undefined);
      if (noted !== undefined && noted !== kept.digest) return undefined;
      const now = new Date();
      await utimes(path, now, now).catch(() => {});
      return kept;
    } catch {
      return undefined;
    }
  }

  /** The manifest by whose digest a module was asked for, unchecked. */
  async manifest(location: string): Promise<Buffer | undefined> {
    const path = this.path(location) + MANIFEST_SUFFIX;
    try {
      return (await stat(path)).size > MAX_ANSWER_BYTES ? undefined : await readFile(path);
    } catch {
      return undefined;
    }
  }

  /** Keeps the manifest of a module. */
  async keepManifest(location: string, bytes: Uint8Array): Promise<void> {
    await writeWhole(this.path(location) + MANIFEST_SUFFIX, bytes);
  }

  /** Begins to write a module. @throws CannotKeep */
  async incoming(location: string): Promise<IncomingFile> {
    const path = this.path(location);
    return keeping(async () => {
      await mkdir(dirname(path), { recursive: true });
      return begun(path, `${path}.`, this.#folder);
    });
  }

  /** Begins to write one that can't be kept here, outside of the folder. @throws CannotKeep */
  passing(): Promise<IncomingFile> {
    return keeping(() => begun("", join(tmpdir(), PASSING_PREFIX)));
  }

  #join(scheme: string, parts: readonly string[]): string {
    const names = parts.map((part) => (part.length <= MAX_NAME_LENGTH ? part : hash(part)));
    return join(this.#folder, scheme, ...names);
  }
}

/** Several may fetch the same at a time. */
async function begun(path: string, prefix: string, folder?: string): Promise<IncomingFile> {
  const part = `${prefix}${randomBytes(8).toString("hex")}${PART_SUFFIX}`;
  return new IncomingFile(path, part, await open(part, "wx+"), folder);
}

/** Removes the folder of a file, and those that hold it, as long as nothing else is in them: addresses that lead to nothing must not leave any behind. */
export async function removeEmptyFolders(file: string, folder: string): Promise<void> {
  const top = resolve(folder);
  for (let at = dirname(resolve(file)); at.startsWith(top + sep); at = dirname(at)) {
    const isGone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** A file that is being written: it appears whole or not at all. */
export class IncomingFile implements ByteSink {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  readonly #head: number[] = [];
  readonly #folder: string | undefined;
  #size = 0;

  /** @param folder the download folder that it lies in; absent: another one */
  constructor(path: string, part: string, file: FileHandle, folder: string | undefined) {
    this.#path = path;
    this.#part = part;
    this.#file = file;
    this.#folder = folder;
  }

  /** @throws CannotKeep */
  async take(piece: Uint8Array): Promise<void> {
    this.#head.push(...piece.subarray(0, WASM_MAGIC.length - this.#head.length));
    this.#hash.update(piece);
    await keeping(() => this.#file.appendFile(piece));
    this.#size += piece.length;
  }

  /** Whether what was written so far begins as a module. */
  get isModule(): boolean {
    return WASM_MAGIC.every((byte, index) => this.#head[index] === byte);
  }

  /** Ends the writing: no reader looks for a file of this name. */
  async finish(): Promise<KeptFile> {
    await this.#file.close();
    return { path: this.#part, size: this.#size, digest: `sha256:${this.#hash.digest("hex")}` };
  }

  /** Gives a finished file its name, and puts a manifest beside it. @throws CannotKeep */
  async keep(file: KeptFile, manifest?: Uint8Array): Promise<KeptFile> {
    return keeping(async () => {
      if (manifest !== undefined) await writeWhole(this.#path + MANIFEST_SUFFIX, manifest);
      await writeWhole(this.#path + DIGEST_SUFFIX, file.digest);
      await rename(this.#part, this.#path);
      return { ...file, path: this.#path };
    });
  }

  /** Removes what was written, unless it is kept. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#part, { force: true }).catch(() => {});
    if (this.#folder !== undefined) await removeEmptyFolders(this.#part, this.#folder);
  }
}

/** The content of a file, in one buffer. @throws Error when it is not what it was */
export async function readKept({ path, size, digest }: KeptFile): Promise<Buffer> {
  const whole = new Collected();
  whole.begin(size);
  const found = await hashFile(path, digest, (piece) => whole.take(piece));
  if (found !== digest) throw new Error(`${path} has changed meanwhile`);
  return whole.bytes;
}

/**
 * The digest of a file: `sha256:<hex>`, or by the algorithm of one to be compared with.
 * @param take is given its content piece by piece; a piece is overwritten by the next one
 */
export async function hashFile(path: string, like = "sha256:", take?: (piece: Uint8Array) => void): Promise<string> {
  const [algorithm, hash] = hashLike(like);
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES);
      if (bytesRead === 0) return `${algorithm}:${hash.digest("hex")}`;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      take?.(piece);
    }
  } finally {
    await file.close();
  }
}

async function keeping<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw new CannotKeep(String((cause as Error).message), { cause });
  }
}

/** Host and path; a query makes a file of its own, and so does a login. The URL parser has already removed `.` and `..`. */
function httpParts(url: URL): readonly string[] {
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const last = parts.pop() ?? "index";
  const login = url.username === "" && url.password === "" ? "" : loginKey(url);
  const rest = url.search + login;
  return [url.host, ...parts, rest === "" ? last : `${last}?${hash(rest)}`];
}

/** What was fetched with a password is not for those who have none, or another one. */
function loginKey({ username, password, host, pathname }: URL): string {
  return scryptSync(`${username}:${password}`, host + pathname, 32, { N: LOGIN_COST }).toString("hex");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}${PART_SUFFIX}`;
  try {
    // What lies there is of a process that ended in between, or a link that leads somewhere else.
    await rm(temporary, { force: true });
    await writeFile(temporary, content, { flag: "wx" });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}
