/** Resources that policies have changed: shown as their changes, and written to `--output`. */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError } from "../../data/command-io.js";
import { printable } from "../../data/printable.js";
import type { Scanned } from "../../offline/reports/finding.js";
import { diffText } from "../look/diff-text.js";
import type { Paint } from "../look/paint.js";

/** The changes of a resource; empty without any. */
export function changesText({ resource: { namespace, kind, name }, changed }: Scanned, paint: Paint): string {
  if (changed === undefined) return "";
  const about = printable([namespace, kind, name].filter(Boolean).join("/"));
  return `${[`changed ${about}:`, ...diffText(changed.diff, paint)].join("\n")}\n`;
}

/** Most characters of a resource's name in that of a file. */
const LONGEST_NAME = 200;

/** The place of changed resources: a file, whose name ends in `.yaml` or `.yml`, or a folder, as in Kyverno's command. */
export class ChangedResources {
  readonly #path: string;
  readonly #isFile: boolean;
  /** Files that have a document by now. */
  readonly #begun = new Set<string>();

  private constructor(path: string) {
    this.#path = path;
    this.#isFile = /\.ya?ml$/.test(path);
  }

  /**
   * Empties the file, or makes the folder.
   * @param inputs files that are read, none of which may be emptied
   * @throws UsageError
   */
  static async open(path: string, inputs: readonly string[]): Promise<ChangedResources> {
    if (path === "") throw new UsageError("--output needs a .yaml file or a folder");
    const opened = new ChangedResources(path);
    const realPath = (name: string) => realpath(name).catch(() => resolve(name));
    const own = await realPath(path);
    for (const input of opened.#isFile ? inputs : [])
      if ((await realPath(input)) === own)
        throw new UsageError(`--output ${path} is a file that is read: name another, since it would be emptied`);
    await opened.#try(opened.#isFile ? writeFile(path, "") : mkdir(path, { recursive: true }));
    return opened;
  }

  /**
   * Writes a resource: into the file, or into one of its own name; those of the same name follow each other there.
   * @throws UsageError
   */
  async add({ resource: { kind, name }, changed }: Scanned): Promise<void> {
    if (changed === undefined) return;
    // A name from a file must not leave the folder, nor be longer than those of files.
    const own = `${(name || kind).replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, LONGEST_NAME)}-mutated.yaml`;
    const file = this.#isFile ? this.#path : join(this.#path, own);
    const follows = this.#begun.has(file);
    this.#begun.add(file);
    await this.#try(writeFile(file, follows ? `---\n${changed.yaml}` : changed.yaml, { flag: follows ? "a" : "w" }));
  }

  async #try(work: Promise<unknown>): Promise<void> {
    await work.catch((cause: Error) => {
      throw new UsageError(`cannot write ${this.#path}: ${cause.message}`, { cause });
    });
  }
}
