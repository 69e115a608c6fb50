import { statSync } from "node:fs";
import { type Config, loadConfig } from "../../config/index.js";

/** What a policies file has come to. */
export interface ReadFile {
  /** The last one that could be used; the same object as long as no file has changed. */
  readonly config: Config | undefined;
  /** Why the file as it is can't be used, when it was read anew. */
  readonly problem?: string;
}

/** A policies file that is read again when it, or a file that belongs to it, has changed. */
export class AuditedFile {
  readonly #path: () => string | undefined;
  #config: Config | undefined;
  #files: readonly string[] = [];
  #state = "";

  /** @param path undefined: there is none */
  constructor(path: () => string | undefined) {
    this.#path = path;
  }

  /** Whether there is something to be read that has not been. */
  hasChanged(): boolean {
    return this.#path() !== undefined && (this.#state === "" || this.#state !== stateOf(this.#files));
  }

  read(): ReadFile {
    const path = this.#path();
    if (path === undefined) return { config: this.#config };
    if (!this.hasChanged()) return { config: this.#config };
    const read = loadConfig(path);
    this.#files = read.ok ? read.config.files : [path];
    this.#state = stateOf(this.#files);
    if (!read.ok) return { config: this.#config, problem: read.message };
    this.#config = read.config;
    return { config: read.config };
  }
}

/** Changes when any of the files does. */
const stateOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
      return `${file} ${stat?.mtimeNs} ${stat?.size}`;
    })
    .join("\n");
