/** Fetches the bytes of a module entry: those of a module, or of the modules in an Extism manifest. */
import {
  addressPath,
  isPluginManifest,
  type ManifestModule,
  type ModuleEntry,
  missingFileHint,
  moduleKey,
  type Problem,
  readPluginManifest,
} from "../config/index.js";
import { loadedOnce } from "../data/loaded-once.js";
import {
  digestOf,
  FetchError,
  fetchFailureShown,
  fetchFailureText,
  MAX_MODULE_BYTES,
  type ModuleFetcher,
  type ModuleFile,
  type ModuleLimits,
  withoutSecrets,
} from "../fetch/index.js";
import type { ModuleContents, ModuleFiles, Warn } from "../kinds/kind.js";
import { LoadError } from "../kinds/load-error.js";
import { type CountedModule, NamespaceModules } from "./namespace-modules.js";
import { limitsOf } from "./prefetch.js";

/** Bytes of an Extism manifest that a namespaced policy names: a manifest with an inline small module has some ten KiB. */
const NAMESPACED_MANIFEST_BYTES = 256 * 1024;
/**
 * Separators of its values, which are parsed in one go on the main thread: a thousand take some 20 ms, and usual manifests have a few dozen. Base64
 * has none of these.
 */
const SEPARATORS = /[,:[{\r\n]/g;
const NAMESPACED_MANIFEST_VALUES = 1_000;

/** Files held for a policy, with `used` and `release`. */
export type HeldFiles = ModuleFiles & Required<Pick<ModuleFiles, "used" | "release">>;

/**
 * Fetches the modules of an entry; reading waits until there is memory for them.
 * @param inUse counts the modules of policies in namespaces
 * @throws LoadError
 */
export async function moduleFiles(
  entry: ModuleEntry,
  fetcher: ModuleFetcher,
  warn: Warn,
  inUse = new NamespaceModules(),
): Promise<HeldFiles> {
  const held = new Held();
  try {
    return await new Reading(entry, fetcher, held, inUse).files(warn);
  } catch (cause) {
    held.release();
    throw cause;
  }
}

/** Files that are held for a policy. It lives as long as the policy, so it refers to nothing else. */
class Held {
  readonly pins: Release[] = [];
  memory: Release | undefined;

  readonly used = (): void => {
    this.memory?.();
    this.memory = undefined;
  };

  readonly release = (): void => {
    this.used();
    for (const release of this.pins.splice(0)) release();
  };
}

/** One entry's files (disposable). */
class Reading {
  readonly #entry: ModuleEntry;
  readonly #fetcher: ModuleFetcher;
  readonly #limits: ModuleLimits;
  readonly #held: Held;
  readonly #inUse: NamespaceModules;

  constructor(entry: ModuleEntry, fetcher: ModuleFetcher, held: Held, inUse: NamespaceModules) {
    this.#entry = entry;
    this.#fetcher = fetcher;
    this.#limits = limitsOf(entry);
    this.#held = held;
    this.#inUse = inUse;
  }

  async files(warn: Warn): Promise<HeldFiles> {
    const { module, origin } = this.#entry;
    const place = (message: string): Problem => {
      const hint = missingFileHint(module);
      return { ...origin.error([moduleKey(this.#entry)], message), ...(hint !== undefined && { hint }) };
    };
    const file = await this.#fetch(module, place);
    await this.#count([file], place);
    const { used, release } = this.#held;
    return { digest: file.digest, read: loadedOnce(() => this.#read(file, place, warn)), used, release };
  }

  async #read(file: FetchedFile, place: Place, warn: Warn): Promise<ModuleContents> {
    const { module, origin, allowedHosts } = this.#entry;
    await this.#enter([file]);
    const bytes = await this.#told(module.text, place, () => file.read());
    if (!isPluginManifest(bytes, module.location)) return { bytes };
    if (this.#limits.namespace !== undefined && isLarge(bytes)) {
      const most = `${NAMESPACED_MANIFEST_BYTES} bytes and ${NAMESPACED_MANIFEST_VALUES} values`;
      const problem = place(`the manifest of a namespaced policy has at most ${most}`);
      throw new LoadError("the module's manifest is too large", [{ ...problem, code: "MODULE_MANIFEST" }]);
    }
    const name = module.kind === "file" ? addressPath(module) : withoutSecrets(module.text);
    const read = await readPluginManifest(bytes, name, module.location);
    if ("problems" in read)
      throw new LoadError("the module's manifest is invalid: the server's log says where", read.problems);
    const { manifest } = read;
    if (!manifest.isLocal && manifest.allowedHosts?.length && allowedHosts === undefined)
      warn(
        origin.warning(
          ["module"],
          `the manifest's allowed_hosts (${manifest.allowedHosts.join(", ")}) are not granted, for it was downloaded: write allowedHosts here`,
          undefined,
          { code: "MODULE_MANIFEST" },
        ),
      );
    this.#held.used();
    const [main, ...others] = await this.#modules([manifest.main, ...manifest.others], place);
    if (main === undefined) throw new Error("a manifest has a main module");
    const linked = manifest.others.map((each, index) => ({
      name: each.name,
      bytes: others[index] ?? new Uint8Array(),
    }));
    return { bytes: main, plugin: { manifest, linked } };
  }

  /** The modules of a manifest, their hashes checked: all are fetched before any is read. */
  async #modules(wanted: readonly ManifestModule[], place: Place): Promise<readonly Uint8Array[]> {
    const files = await Promise.all(
      wanted.map(async ({ source, hash, error }) => {
        const file = "data" in source ? inManifest(source.data) : await this.#fetch(source.address, error);
        const actual = file.digest.slice("sha256:".length);
        if (hash === undefined || hash === actual) return file;
        const message = `hash mismatch. Expected: ${hash}. Actual: ${actual}`;
        throw new LoadError(message, [error(message)]);
      }),
    );
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const { maxBytes = size } = this.#limits;
    if (size > maxBytes) {
      const message = `the modules of the manifest have ${size} bytes together, more than ${maxBytes}`;
      const problem = { ...place(message), code: "MODULE_MANIFEST" } as const;
      throw new LoadError("the modules of the manifest are too large together", [problem]);
    }
    await this.#count(files, place);
    await this.#enter(files);
    return Promise.all(files.map((file) => this.#told(this.#entry.module.text, place, () => file.read())));
  }

  /** Counts the modules in use by the policy's namespace. */
  async #count(modules: readonly CountedModule[], place: Place): Promise<void> {
    const { namespace, maxBytes = MAX_MODULE_BYTES } = this.#limits;
    const { id, module } = this.#entry;
    if (namespace === undefined) return;
    this.#held.pins.push(
      await this.#told(module.text, place, async () => this.#inUse.use(namespace, id, modules, maxBytes)),
    );
  }

  /** Waits until there is memory for the modules. */
  async #enter(modules: readonly CountedModule[]): Promise<void> {
    // Each of an operator's policies counts by itself.
    const bytes = modules.reduce((sum, { size }) => sum + size, 0);
    this.#held.memory = await this.#fetcher.memory(bytes, this.#limits.namespace ?? `/${this.#entry.id}`);
  }

  async #fetch({ location, text }: ModuleEntry["module"], place: Place): Promise<FetchedFile> {
    return this.#told(text, place, async () => {
      const file = await this.#fetcher.file(location, this.#limits);
      this.#held.pins.push(file.hold());
      return file;
    });
  }

  /** Adds the reason of a failure for the operator; clients get only its kind, since reasons name registries and paths of this machine. */
  async #told<T>(text: string, place: Place, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const error =
        cause instanceof FetchError ? cause : new FetchError("unexpected failure", { stage: "download", cause });
      // Fetch messages mark members with `#` (spec kubewarden.md 1.4).
      const asNamed = this.#entry.id.replace("/", "/#");
      const reason = fetchFailureText(asNamed, text, error);
      throw new LoadError(fetchFailureShown(asNamed, error), [place(reason)], { cause, detail: reason });
    }
  }
}

type Release = () => void;
type FetchedFile = Pick<ModuleFile, "size" | "digest" | "read">;
/** Makes a problem at the place that names a module. */
type Place = (message: string) => Problem;

const isLarge = (manifest: Uint8Array): boolean =>
  manifest.length > NAMESPACED_MANIFEST_BYTES ||
  Buffer.from(manifest)
    .toString("latin1")
    .split(SEPARATORS, NAMESPACED_MANIFEST_VALUES + 1).length > NAMESPACED_MANIFEST_VALUES;

const inManifest = (data: Uint8Array) => ({ size: data.length, digest: digestOf(data), read: async () => data });
