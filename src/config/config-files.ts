/** Reads the files of a configuration: regular files of bounded size, and folders of resources. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { MANIFESTS } from "../data/manifest-files.js";
import { yamlText } from "../data/yaml.js";
import type { Config, ConfigEntry } from "./entry.js";
import { addressPath } from "./module-address.js";

/** Largest file read, in bytes: Kubernetes caps a ConfigMap at 1 MiB; eight times that leaves room for files of other origin. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Most files that one `resource` entry may name through folders. */
const MAX_RESOURCE_FILES = 1000;

/** The error of a file that can't be used. */
export class ConfigFileError extends Error {
  readonly code = "CONFIG_FILE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ConfigFileError";
  }
}

/** Options of reading files. */
export interface ConfigFilesOptions {
  /** Texts in place of files, by absolute path: they take precedence. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Why a file or folder may not be read; undefined: it may. Default: all may. */
  readonly refusal?: (path: string) => string | undefined;
}

/** The files of a configuration, recorded so that they can be watched. */
export class ConfigFiles {
  /** Absolute paths of files and folders. */
  readonly touched = new Set<string>();
  /** Looks that wait until all entries are read, and with them all files that they name. */
  readonly afterwards: (() => void)[] = [];
  readonly #options: ConfigFilesOptions;

  constructor(options: ConfigFilesOptions = {}) {
    this.#options = options;
  }

  /**
   * The text of a file that is to be read as YAML.
   * @throws ConfigFileError
   */
  read(path: string): string {
    return this.#options.texts?.get(resolve(path)) ?? yamlText(this.readBytes(path));
  }

  /**
   * The bytes of a file.
   * @throws ConfigFileError
   */
  readBytes(path: string): Buffer {
    this.touched.add(resolve(path));
    const stats = this.#stats(path);
    if (!stats.isFile()) throw new ConfigFileError(stats.isDirectory() ? "is a folder" : "is not a regular file");
    if (stats.size > MAX_FILE_BYTES) {
      throw new ConfigFileError(`is too large: ${stats.size} bytes, at most ${MAX_FILE_BYTES}`);
    }
    try {
      return readFileSync(path);
    } catch (cause) {
      throw new ConfigFileError(reasonOf(cause), { cause });
    }
  }

  /**
   * The files that a `resource` names: itself, or the YAML and JSON files of a folder (not of folders below it), by name.
   * @param holder the file that holds the path
   * @param onFolder gets each folder below a folder
   * @throws ConfigFileError
   */
  resources(path: string, holder: string, onFolder?: (folder: string) => void): readonly string[] {
    const found = path.startsWith("/") ? path : join(dirname(holder), path);
    if (this.#options.texts?.has(resolve(found)) === true) return [found];
    // A missing file is worth watching, too: it may be created.
    this.touched.add(resolve(found));
    if (!this.#stats(found).isDirectory()) return [found];
    const entries = readdirSync(found, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
    for (const entry of entries) if (entry.isDirectory()) onFolder?.(join(found, entry.name));
    const names = entries.map(({ name }) => name).filter((name) => MANIFESTS.test(name));
    if (names.length === 0) throw new ConfigFileError("is a folder without any .yaml, .yml or .json file");
    if (names.length > MAX_RESOURCE_FILES) {
      throw new ConfigFileError(`is a folder of ${names.length} files, at most ${MAX_RESOURCE_FILES}`);
    }
    return names.sort().map((name) => join(found, name));
  }

  #stats(path: string) {
    const refusal = this.#options.refusal?.(path);
    if (refusal !== undefined) throw new ConfigFileError(refusal);
    try {
      return statSync(path);
    } catch (cause) {
      throw new ConfigFileError(reasonOf(cause), { cause });
    }
  }
}

/** The operating system's reason in plain words. */
function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "can't be read: permission denied";
  return cause instanceof Error ? cause.message : String(cause);
}

/** Files and folders that were read for a configuration, and the local modules of its entries and their members: to be looked after. */
export const filesOf = ({ files, entries }: Config): string[] => [...files, ...entries.flatMap(moduleFiles)];

function moduleFiles(entry: ConfigEntry): string[] {
  if (entry.kind === "module") return entry.module.kind === "file" ? [addressPath(entry.module)] : [];
  if (entry.kind !== "group") return [];
  return entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : moduleFiles(policy)));
}
