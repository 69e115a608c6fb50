import { statSync } from "node:fs";
import { type Config, loadConfig } from "../../config/index.js";

/** The state of a policies file. */
export interface ReadFile {
  /** The last valid configuration; the same object while no file changes. */
  readonly config: Config | undefined;
  /** The reason why the present file can't be used, after it was read anew. */
  readonly problem?: string;
}

/** A policies file that is read again when it, or a file that it refers to, has changed. */
export class AuditedFile {
  readonly #path: () => string | undefined;
  #config: Config | undefined;
  #files: readonly string[] = [];
  #state = "";

  /** @param path undefined: there is none */
  constructor(path: () => string | undefined) {
    this.#path = path;
  }

  /** Whether a file has changed since it was read. */
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

/** A text that changes when any of the files does. */
const stateOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
      return `${file} ${stat?.mtimeNs} ${stat?.size}`;
    })
    .join("\n");
