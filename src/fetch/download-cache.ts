import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatImageReference, parseImageReference } from "./image-reference.js";
import { MAX_MODULE_BYTES } from "./limits.js";
import { digestOf } from "./registry-client.js";

/** Longest name of a file that every file system takes; longer ones are replaced by their digest. */
const MAX_NAME_LENGTH = 200;
/** Ends the name of a file that holds the digest of the file beside it. */
export const DIGEST_SUFFIX = ".digest";

/**
 * Downloaded modules in a folder, laid out as Kubewarden does (spec kubewarden.md 1.6), so that a folder filled by either serves both:
 * `<folder>/<scheme>/<host[:port]>/<path…>/<file[:tag]>`. Beside each file stands its digest: a damaged file is not reused.
 */
export class DownloadCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path at which a module is kept. */
  path(location: string): string {
    const colon = location.indexOf("://");
    const scheme = location.slice(0, colon);
    if (scheme !== "registry") return this.#join(scheme, httpParts(new URL(location)));
    const image = parseImageReference(location.slice(colon + 3));
    return this.#join(scheme, formatImageReference(image).split("/"));
  }

  /** The module, when it is there, whole and of allowed size. */
  async read(location: string): Promise<Uint8Array | undefined> {
    const path = this.path(location);
    try {
      const { size } = await stat(path);
      if (size > MAX_MODULE_BYTES) return undefined;
      const bytes = await readFile(path);
      const digest = await readFile(path + DIGEST_SUFFIX, "utf8").catch(() => undefined);
      return digest === undefined || digest === digestOf(bytes) ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a module; files appear whole or not at all. */
  async write(location: string, bytes: Uint8Array): Promise<void> {
    const path = this.path(location);
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path + DIGEST_SUFFIX, digestOf(bytes));
    await writeWhole(path, bytes);
  }

  #join(scheme: string, parts: readonly string[]): string {
    const names = parts.map((part) => (part.length <= MAX_NAME_LENGTH ? part : hash(part)));
    return join(this.#folder, scheme, ...names);
  }
}

/** Host and path; a query makes a file of its own. The URL parser has already removed `.` and `..`. */
function httpParts(url: URL): readonly string[] {
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const last = parts.pop() ?? "index";
  return [url.host, ...parts, url.search === "" ? last : `${last}?${hash(url.search)}`];
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
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
