/**
 * Bounds the download folder of a server: the least recently used modules are removed first, and none in use. File times tell other processes which
 * ones are in use, so that any process can make room without asking others.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  DIGEST_SUFFIX,
  type KeptFile,
  MANIFEST_SUFFIX,
  PART_SUFFIX,
  removeEmptyFolders,
  touch,
} from "./download-cache.js";
import { ABANDONED_MS, IN_USE_MS, PASSING_BYTES } from "./limits.js";
import type { Release } from "./room.js";

/** The subfolders with modules: a download folder may hold other files, too. */
export const SCHEME_FOLDERS = ["registry", "https", "http"] as const;

/** Files that a process uses. */
export class FilesInUse {
  readonly #held = new Set<{ readonly path: string }>();
  #touching: NodeJS.Timeout | undefined;

  /** Keeps a file from being removed. */
  hold(path: string): Release {
    const held = { path };
    this.#held.add(held);
    this.#touching ??= setInterval(() => {
      for (const each of this.#held) void touch(each.path);
    }, IN_USE_MS / 3).unref();
    return () => {
      this.#held.delete(held);
      if (this.#held.size > 0) return;
      clearInterval(this.#touching);
      this.#touching = undefined;
    };
  }
}

interface Found {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since it was written or used, by a clock that may have been changed meanwhile. */
  readonly age: number;
  /** Whether it is being written, or will be removed once it is loaded. */
  readonly isPart: boolean;
}

/**
 * Makes room in a folder for a new file.
 * @param path its final path: an existing file there is replaced
 * @param most bytes of modules
 * @param isNeeded whether it is kept even without room
 * @returns `passing`: it may only stay until it is loaded
 */
export async function makeRoom(
  folder: string,
  file: KeptFile,
  path: string,
  most: number,
  isNeeded: boolean,
): Promise<"kept" | "passing" | "full"> {
  const others = (await modulesIn(folder)).filter((each) => each.path !== path && each.path !== file.path);
  let total = file.size + sum(others);
  for (const other of others.toSorted((one, two) => two.age - one.age)) {
    if (total <= most) break;
    if (other.isPart || other.age < IN_USE_MS) continue;
    for (const suffix of ["", MANIFEST_SUFFIX, DIGEST_SUFFIX]) await rm(other.path + suffix, { force: true });
    await removeEmptyFolders(other.path, folder);
    total -= other.size;
  }
  if (isNeeded || total <= most) return "kept";
  return file.size + sum(others.filter(({ isPart }) => isPart)) <= PASSING_BYTES ? "passing" : "full";
}

/** The modules that servers and commands have stored: each has its digest beside it. All other files belong to others. */
async function modulesIn(folder: string): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const scheme of SCHEME_FOLDERS) {
    const top = join(folder, scheme);
    const entries = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
    const paths = new Set(entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name)));
    for (const path of paths) {
      const isPart = path.endsWith(PART_SUFFIX);
      const stats = isPart || paths.has(path + DIGEST_SUFFIX) ? await stat(path).catch(() => undefined) : undefined;
      if (stats === undefined) continue;
      const age = Math.abs(Date.now() - stats.mtimeMs);
      if (isPart && age > ABANDONED_MS) await rm(path, { force: true });
      else found.push({ path, size: stats.size, age, isPart });
    }
  }
  return found;
}

const sum = (files: readonly Found[]): number => files.reduce((all, { size }) => all + size, 0);
