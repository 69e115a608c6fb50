/** Writes the files of a plan: all or none, without overwriting, and only inside of the folder. */
import { lstat, mkdir, readFile, realpath, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import type { PlannedFile } from "./plan.js";

/** A file to be written. */
export interface WrittenFile extends PlannedFile {
  /** Whether it may exist already. */
  readonly replaces: boolean;
}

/**
 * Writes files below a folder, which is made if it is missing.
 * @throws UsageError when one exists that may not be replaced, or is outside, or can't be written; then nothing has changed
 */
export async function writeAll(folder: string, files: readonly WrittenFile[]): Promise<void> {
  await refuseOutside(folder, files);
  const there = [];
  for (const { path, replaces } of files)
    if (!replaces && (await exists(join(folder, path)))) there.push(join(folder, path));
  if (there.length > 0) {
    const [are, them] = there.length === 1 ? ["is", "it"] : ["are", "them"];
    throw new UsageError(
      `${there.join(", ")} ${are} there already: nothing was made. Choose another name, or replace ${them} with --force`,
    );
  }
  const writing = new Writing();
  try {
    for (const { path, content } of files) await writing.prepare(join(folder, path), content);
    await writing.finish();
  } catch (error) {
    await writing.undo();
    throw new UsageError(`nothing was made: ${errorText(error)}`, { cause: error });
  }
}

/** Writes one set of files (disposable): each is written beside its place before the first one is moved there. */
class Writing {
  readonly #temporary = new Map<string, string>();
  readonly #before = new Map<string, Buffer | undefined>();
  readonly #folders: string[] = [];

  async prepare(file: string, content: string): Promise<void> {
    await this.#makeFolder(dirname(file));
    const temporary = `${file}.${process.pid}.new`;
    this.#temporary.set(file, temporary);
    await writeFile(temporary, content, { flag: "wx" });
  }

  /** Makes folders one by one, so that the new ones are known; Node's recursive mkdir never ends where none can be made, as below /proc. */
  async #makeFolder(folder: string): Promise<void> {
    const missing: string[] = [];
    for (let path = folder; !(await exists(path)) && dirname(path) !== path; path = dirname(path))
      missing.unshift(path);
    for (const path of missing) {
      await mkdir(path);
      this.#folders.push(path);
    }
  }

  async finish(): Promise<void> {
    for (const [file, temporary] of this.#temporary) {
      this.#before.set(file, (await exists(file)) ? await readFile(file) : undefined);
      await rename(temporary, file);
    }
  }

  /** Removes the new files and folders, as far as possible: the same error may occur here, too. */
  async undo(): Promise<void> {
    for (const temporary of this.#temporary.values()) await rm(temporary, { force: true }).catch(() => {});
    for (const [file, content] of this.#before) {
      if (content === undefined) await rm(file, { force: true }).catch(() => {});
      else await writeFile(file, content).catch(() => {});
    }
    for (const folder of this.#folders.toReversed()) await rmdir(folder).catch(() => {});
  }
}

/** Refuses paths that leave the folder, by `..` or by a link on the way. */
async function refuseOutside(folder: string, files: readonly WrittenFile[]): Promise<void> {
  const root = await realOf(resolve(folder));
  for (const { path } of files) {
    const file = resolve(folder, path);
    const real = await realOf(file);
    const inside = relative(root, real);
    if (inside.startsWith("..") || resolve(root, inside) !== real || inside === "")
      throw new UsageError(`${join(folder, path)} leads outside of ${folder}: nothing was made`);
  }
}

/** The real path; for a missing one that of its nearest existing folder. */
async function realOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realOf(parent), relative(parent, path));
}

const exists = async (file: string): Promise<boolean> => (await lstat(file).catch(() => undefined)) !== undefined;
