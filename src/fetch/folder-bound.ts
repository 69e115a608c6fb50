/** Keeps the download folder of a server from growing: what has not been used for longest goes first, and nothing that is in use. */
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIGEST_SUFFIX, MANIFEST_SUFFIX, PART_SUFFIX, PASSING_PREFIX, removeEmptyFolders } from "./download-cache.js";
import { ABANDONED_MS, PASSING_BYTES } from "./limits.js";
import type { Release } from "./room.js";

/** The folders that a download folder has: it may be one that holds other things, too. */
export const SCHEME_FOLDERS = ["registry", "https", "http"] as const;

/** How long a file is to lie in the folder: in any case, as long as there is room, or until it is loaded. */
export type Stay = "always" | "kept" | "passing";

interface Found {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** The bound of one folder; one process has it for all. */
export class FolderBound {
  readonly #folder: string;
  readonly #most: number;
  readonly #wall: () => number;
  /** How many hold a file, by its path. */
  readonly #pinned = new Map<string, number>();
  /** Sizes of files that were given room and don't lie there yet. */
  readonly #coming = new Map<string, number>();
  /** Sizes of files that go when they are loaded. */
  #passing = new Map<string, number>();
  #placed: Promise<unknown> = Promise.resolve();

  /**
   * @param most bytes of modules
   * @param wall milliseconds since 1970
   */
  constructor(folder: string, most: number, wall: () => number) {
    this.#folder = folder;
    this.#most = most;
    this.#wall = wall;
  }

  /** As `ModuleShare.pin`. */
  async pin(path: string): Promise<Release> {
    this.#pinned.set(path, (this.#pinned.get(path) ?? 0) + 1);
    let holds = true;
    // What is being removed may be that file.
    await this.#placed;
    return () => {
      if (!holds) return;
      holds = false;
      const left = (this.#pinned.get(path) ?? 1) - 1;
      if (left > 0) this.#pinned.set(path, left);
      else this.#pinned.delete(path);
    };
  }

  /** As `ModuleShare.place`. */
  place(path: string, bytes: number, stay: Stay): Promise<boolean> {
    if (stay === "passing") return Promise.resolve(this.#pass(path, bytes));
    const placed = this.#placed.then(() => this.#place(path, bytes, stay));
    this.#placed = placed.catch(() => {});
    return placed;
  }

  #pass(path: string, bytes: number): boolean {
    const others = [...this.#passing].filter(([name]) => this.#pinned.has(name));
    this.#passing = new Map(others);
    const may = sum(others.map(([, size]) => size)) + bytes <= PASSING_BYTES;
    if (may) this.#passing.set(path, bytes);
    return may;
  }

  async #place(path: string, bytes: number, stay: Stay): Promise<boolean> {
    const found = await this.#look();
    for (const name of this.#coming.keys()) {
      if (!this.#pinned.has(name) || found.some((file) => file.path === name)) this.#coming.delete(name);
    }
    const others = found.filter((file) => file.path !== path);
    let total = bytes + sum(others.map(({ size }) => size)) + sum([...this.#coming.values()]);
    for (const file of others.toSorted((one, other) => one.usedAt - other.usedAt)) {
      if (total <= this.#most) break;
      if (this.#pinned.has(file.path)) continue;
      await remove(file.path);
      await removeEmptyFolders(file.path, this.#folder);
      total -= file.size;
    }
    const may = stay === "always" || total <= this.#most;
    if (may) this.#coming.set(path, bytes);
    return may;
  }

  /** The modules that servers and commands have put there: each has its digest beside it. What else lies there is somebody's own. */
  async #look(): Promise<readonly Found[]> {
    const found: Found[] = [];
    for (const scheme of SCHEME_FOLDERS) {
      const top = join(this.#folder, scheme);
      const entries = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
      const paths = new Set(entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name)));
      for (const path of paths) {
        const isPart = path.endsWith(PART_SUFFIX);
        if (!isPart && !paths.has(path + DIGEST_SUFFIX)) continue;
        const stats = await stat(path).catch(() => undefined);
        if (stats === undefined) continue;
        if (!isPart) found.push({ path, size: stats.size, usedAt: stats.mtimeMs });
        else await this.#abandon(path, stats.mtimeMs);
      }
    }
    const passing = (await readdir(tmpdir()).catch(() => [])).filter((name) => name.startsWith(PASSING_PREFIX));
    for (const path of passing.map((name) => join(tmpdir(), name)))
      await this.#abandon(path, (await stat(path).catch(() => undefined))?.mtimeMs ?? this.#wall());
    return found;
  }

  async #abandon(path: string, writtenAt: number): Promise<void> {
    if (this.#wall() - writtenAt > ABANDONED_MS && !this.#pinned.has(path)) await rm(path, { force: true });
  }
}

async function remove(path: string): Promise<void> {
  for (const each of [path, path + MANIFEST_SUFFIX, path + DIGEST_SUFFIX]) await rm(each, { force: true });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
