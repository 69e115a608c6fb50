/** Resources that policies have changed: shown as their changes, and written to `--output`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
   * @throws UsageError
   */
  static async open(path: string): Promise<ChangedResources> {
    if (path === "") throw new UsageError("--output needs a .yaml file or a folder");
    const opened = new ChangedResources(path);
    await opened.#try(opened.#isFile ? writeFile(path, "") : mkdir(path, { recursive: true }));
    return opened;
  }

  /**
   * Writes a resource: into the file, or into one of its own name; those of the same name follow each other there.
   * @throws UsageError
   */
  async add({ resource: { kind, name }, changed }: Scanned): Promise<void> {
    if (changed === undefined) return;
    // A name from a file must not leave the folder.
    const own = `${(name || kind).replaceAll(/[^A-Za-z0-9._-]/g, "_")}-mutated.yaml`;
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
