import { createHash, randomBytes, scryptSync } from "node:crypto";
import { mkdir, open, readFile, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { CannotKeep } from "./fetch-error.js";
import { formatImageReference, parseImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import { hashLike } from "./registry-client.js";

/** Longest file name that every file system accepts; longer ones are replaced by their digest. */
const MAX_NAME_LENGTH = 200;
/** Suffix of a file with the digest of the file beside it. */
export const DIGEST_SUFFIX = ".digest";
/** Suffix of a file with the manifest whose digest was requested for the file beside it. */
export const MANIFEST_SUFFIX = ".manifest";
/** Suffix of a file that is being written. */
export const PART_SUFFIX = ".part";
/** Bytes of a file that are read and hashed at a time: two milliseconds of the main thread. */
const PIECE_BYTES = 1024 * 1024;
/** Cost of a password guess from file names: ten milliseconds (N of scrypt). */
const LOGIN_COST = 4096;

/** First bytes of every module. */
const WASM_MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;

/** A file with its content's size, in bytes, and digest (`sha256:<hex>`). */
export interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly digest: string;
}

/**
 * The path of a downloaded module. The layout is Kubewarden's (spec kubewarden.md 1.6), so that both can use the same folder:
 * `<folder>/<scheme>/<host[:port]>/<path…>/<file[:tag]>`. Beside each file stands its digest: a damaged file is not reused.
 */
export function modulePath(folder: string, location: string): string {
  const [scheme = "", text = ""] = location.split(/:\/\/(.*)/s);
  const parts =
    scheme === "registry" ? formatImageReference(parseImageReference(text)).split("/") : httpParts(new URL(location));
  return join(folder, scheme, ...parts.map((part) => (part.length <= MAX_NAME_LENGTH ? part : hash(part))));
}

/** Finds the module at a path, if it exists, whole and of allowed size; its bytes are hashed each time. A found module is the last one to be removed. */
export async function findModule(path: string, most: number): Promise<KeptFile | undefined> {
  try {
    const { size } = await stat(path);
    if (size > most) return undefined;
    await touch(path);
    const digest = await hashFile(path);
    const noted = await readFile(path + DIGEST_SUFFIX, "utf8").catch(() => digest);
    return noted === digest ? { path, size, digest } : undefined;
  } catch {
    return undefined;
  }
}

/** The manifest whose digest was requested for the module at a path, unchecked. */
export async function keptManifest(path: string): Promise<Buffer | undefined> {
  const beside = path + MANIFEST_SUFFIX;
  const { size } = (await stat(beside).catch(() => undefined)) ?? { size: Number.POSITIVE_INFINITY };
  return size > MAX_ANSWER_BYTES ? undefined : readFile(beside).catch(() => undefined);
}

/** Marks a file as used now, where that can be written. */
export const touch = (path: string): Promise<void> => utimes(path, new Date(), new Date()).catch(() => {});

/** Keeps the manifest of the module at a path. */
export const keepManifest = (path: string, bytes: Uint8Array): Promise<void> =>
  writeWhole(path + MANIFEST_SUFFIX, bytes);

/** Removes the folder of a file and its parents while they are empty: addresses without a module must not leave folders behind. */
export async function removeEmptyFolders(file: string, folder: string): Promise<void> {
  const top = resolve(folder) + sep;
  try {
    for (let at = dirname(resolve(file)); at.startsWith(top); at = dirname(at)) await rmdir(at);
  } catch {
    // The folder is not empty.
  }
}

/** A file that was written; `keep` gives it its name. */
export interface ReceivedFile extends KeptFile {
  /** Whether it has the first bytes of a module. */
  readonly isModule: boolean;
}

/**
 * Writes a file of a scheme under a temporary name: no reader looks for it, and several processes may fetch the same module at a time.
 * @param fill passes the content
 * @throws CannotKeep
 */
export async function receive(
  folder: string,
  scheme: string,
  fill: (take: (piece: Uint8Array) => Promise<void>) => Promise<unknown>,
): Promise<ReceivedFile> {
  const path = join(folder, scheme, `${randomBytes(8).toString("hex")}${PART_SUFFIX}`);
  const file = await keeping(async () => {
    await mkdir(dirname(path), { recursive: true });
    return open(path, "wx");
  });
  const hash = createHash("sha256");
  const head: number[] = [];
  let size = 0;
  try {
    await fill(async (piece) => {
      head.push(...piece.subarray(0, WASM_MAGIC.length - head.length));
      hash.update(piece);
      await keeping(() => file.appendFile(piece));
      size += piece.length;
    });
  } catch (cause) {
    await discard(path, folder);
    throw cause;
  } finally {
    await file.close();
  }
  const isModule = WASM_MAGIC.every((byte, index) => head[index] === byte);
  return { path, size, digest: `sha256:${hash.digest("hex")}`, isModule };
}

/** Removes a file that was received, unless it was given its name. */
export async function discard(path: string, folder: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
  await removeEmptyFolders(path, folder);
}

/** Gives a complete file its name, and writes a manifest beside it. @throws CannotKeep */
export function keep({ size, digest, path: part }: KeptFile, path: string, manifest?: Uint8Array): Promise<KeptFile> {
  return keeping(async () => {
    await mkdir(dirname(path), { recursive: true });
    if (manifest !== undefined) await keepManifest(path, manifest);
    await writeWhole(path + DIGEST_SUFFIX, digest);
    await rename(part, path);
    return { path, size, digest };
  });
}

/** The content of a file, in one buffer. @throws Error when it has changed */
export async function readKept({ path, size, digest }: KeptFile): Promise<Buffer> {
  // Not of a shared pool: it should be freed with its last use.
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  const found = await hashFile(path, digest, (piece) => {
    bytes.set(piece.subarray(0, size - at), at);
    at += piece.length;
  });
  if (found !== digest) throw new Error(`${path} has changed meanwhile`);
  return bytes;
}

/**
 * The digest of a file: `sha256:<hex>`, or with the algorithm of `like`.
 * @param take receives its content piece by piece; a piece is overwritten by the next one
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

/** Host and path of a file; each query and each login has its own file. The URL parser has already removed `.` and `..`. */
function httpParts(url: URL): readonly string[] {
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const last = parts.pop() ?? "index";
  const login = url.username === "" && url.password === "" ? "" : loginKey(url);
  const rest = url.search + login;
  return [url.host, ...parts, rest === "" ? last : `${last}?${hash(rest)}`];
}

/** Key of a login: a module that was fetched with a password must not be found without it, or with another one. */
function loginKey({ username, password, host, pathname }: URL): string {
  return scryptSync(`${username}:${password}`, host + pathname, 32, { N: LOGIN_COST }).toString("hex");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}${PART_SUFFIX}`;
  try {
    // An existing file is of a process that ended before, or a link that leads somewhere else.
    await rm(temporary, { force: true });
    await writeFile(temporary, content, { flag: "wx" });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}
