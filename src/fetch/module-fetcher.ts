/** Gets the WASM files that a configuration names (spec kubewarden.md 1.6): from files, by HTTP, or from OCI registries. */
import { readFile, stat } from "node:fs/promises";
import querystring from "node:querystring";
import { fileURLToPath } from "node:url";
import { limiter } from "../data/limiter.js";
import { DownloadCache } from "./download-cache.js";
import { FetchError, reasonOf, TOO_LARGE, withoutSecrets } from "./fetch-error.js";
import type { HttpClient } from "./http-client.js";
import { type ImageReference, isFloating, parseImageReference } from "./image-reference.js";
import type { ImageVerifier } from "./image-verifying.js";
import { DOWNLOAD_TIMEOUT_MS, MAX_MODULE_BYTES, MAX_PARALLEL_DOWNLOADS } from "./limits.js";
import { WASM_LAYER } from "./module-artifact.js";
import { openRegistries, type RegistryAccessOptions } from "./registry-access.js";
import { type Descriptor, digestOf, layersOf, type Manifest, type RegistryClient } from "./registry-client.js";

/** How every module begins. */
const WASM_MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;

/** A module's file. */
export interface FetchedModule {
  readonly bytes: Uint8Array;
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
}

/** How to fetch. */
export interface ModuleFetcherOptions extends RegistryAccessOptions {
  /** Where downloads are kept (`--policies-download-dir`). */
  readonly downloadDirectory: string;
  /** With it, only modules from registries can pass. */
  readonly verifier?: (registry: RegistryClient) => ImageVerifier;
  /** Told of what doesn't stop a fetch, such as a download folder that can't be written. */
  readonly warn?: (message: string) => void;
  /** Whether modules are asked for anew that lie in the download folder; what was downloaded before then stands in for none. */
  readonly refresh?: boolean;
  /** Time for one module in milliseconds; default {@link DOWNLOAD_TIMEOUT_MS}. */
  readonly timeoutMilliseconds?: number;
}

/** Fetches modules; one per load of a configuration. */
export interface ModuleFetcher {
  /**
   * The module at a location (`ModuleAddress.location`); equal locations are fetched once, failures included.
   * @throws FetchError
   */
  fetch(location: string): Promise<FetchedModule>;
  /** For whoever else asks registries. */
  readonly registry: RegistryClient;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Makes a fetcher. */
export function createModuleFetcher(options: ModuleFetcherOptions): ModuleFetcher {
  const { http, registry, close } = openRegistries(options);
  const fetcher = new Fetcher(http, registry, options);
  const fetched = new Map<string, Promise<FetchedModule>>();
  const inTurn = limiter(MAX_PARALLEL_DOWNLOADS);
  return {
    registry,
    close,
    fetch(location) {
      let module = fetched.get(location);
      if (module === undefined) {
        module = inTurn(() => fetcher.fetch(location));
        fetched.set(location, module);
      }
      return module;
    },
  };
}

class Fetcher {
  readonly #cache: DownloadCache;
  readonly #http: HttpClient;
  readonly #registry: RegistryClient;
  readonly #verifier: ImageVerifier | undefined;
  readonly #options: ModuleFetcherOptions;

  constructor(http: HttpClient, registry: RegistryClient, options: ModuleFetcherOptions) {
    this.#http = http;
    this.#registry = registry;
    this.#verifier = options.verifier?.(registry);
    this.#options = options;
    this.#cache = new DownloadCache(options.downloadDirectory);
  }

  async fetch(location: string): Promise<FetchedModule> {
    const signal = AbortSignal.timeout(this.#options.timeoutMilliseconds ?? DOWNLOAD_TIMEOUT_MS);
    const scheme = location.slice(0, location.indexOf(":"));
    if (scheme === "registry") return this.#fetchImage(location, signal);
    if (this.#verifier !== undefined) {
      throw new FetchError(`only modules from OCI registries can be verified, not ${withoutSecrets(location)}`, {
        stage: "verify",
        shown: "only modules from OCI registries can be verified",
      });
    }
    if (scheme === "file") return readModuleFile(location);
    const cached = this.#options.refresh === true ? undefined : await this.#cache.read(location);
    if (cached !== undefined) return moduleOf(cached);
    const { url, headers } = withCredentials(location);
    const answer = await this.#http.request(url, { headers, maxBytes: MAX_MODULE_BYTES, signal });
    if (answer.status < 200 || answer.status > 299) {
      throw new FetchError(`${answer.url.host} answers ${answer.status}`, {
        shown: `the server that has it answers ${answer.status}`,
      });
    }
    await this.#keep(location, answer.body);
    return moduleOf(answer.body);
  }

  async #fetchImage(location: string, signal: AbortSignal): Promise<FetchedModule> {
    const named = parseImageReference(location.slice("registry://".length));
    const kept = await this.#cache.read(location);
    if (this.#verifier !== undefined) {
      const image = { ...named, digest: await this.#verifier.verify(named, signal) };
      return this.#pull(image, location, signal, kept);
    }
    const { refresh = false } = this.#options;
    if (kept !== undefined && !refresh && !isFloating(named)) return moduleOf(kept);
    try {
      return await this.#pull(named, location, signal, kept);
    } catch (error) {
      // A registry in trouble must not take down a server that only starts another process.
      if (kept === undefined || refresh || !(error instanceof FetchError) || !error.transient) throw error;
      this.#options.warn?.(`${error.message}; ${location} is taken from the download folder, as last pulled`);
      return moduleOf(kept);
    }
  }

  /** Asks for the manifest, and for the module unless the kept one is the same. */
  async #pull(
    image: ImageReference,
    location: string,
    signal: AbortSignal,
    kept: Uint8Array | undefined,
  ): Promise<FetchedModule> {
    const layer = wasmLayer(await this.#registry.manifest(image, signal), location);
    if (kept !== undefined && digestOf(kept, layer.digest) === layer.digest) return moduleOf(kept);
    const bytes = await this.#registry.blob(image, layer, MAX_MODULE_BYTES, signal);
    await this.#keep(location, bytes);
    return moduleOf(bytes);
  }

  /**
   * A folder that can't be written costs another download, not the policy. What is no module (a page that says "come back later") is not kept: it
   * would be found again at each start.
   */
  async #keep(location: string, bytes: Uint8Array): Promise<void> {
    if (!WASM_MAGIC.every((byte, index) => bytes[index] === byte)) return;
    try {
      await this.#cache.write(location, bytes);
    } catch (cause) {
      this.#options.warn?.(`cannot keep ${withoutSecrets(location)} in the download folder: ${reasonOf(cause)}`);
    }
  }
}

/** Name and password of an address become the header that they stand for. */
function withCredentials(location: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(location);
  const { username, password } = url;
  if (username === "" && password === "") return { url, headers: {} };
  [url.username, url.password] = ["", ""];
  const credentials = Buffer.from(`${querystring.unescape(username)}:${querystring.unescape(password)}`);
  return { url, headers: { authorization: `Basic ${credentials.toString("base64")}` } };
}

/** The first WASM layer. */
function wasmLayer(manifest: Manifest, location: string): Descriptor {
  const layer = layersOf(manifest).find(({ mediaType }) => mediaType === WASM_LAYER);
  if (layer !== undefined) return layer;
  throw new FetchError(`could not pull policy ${location}: empty layers`, {
    shown: "the image has no layer of a module",
  });
}

async function readModuleFile(location: string): Promise<FetchedModule> {
  const path = fileURLToPath(location);
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw new FetchError(`${path} is not a file`, { shown: "it is not a file" });
    if (stats.size > MAX_MODULE_BYTES)
      throw new FetchError(`${path} has ${stats.size} bytes, more than ${MAX_MODULE_BYTES}`, { shown: TOO_LARGE });
    return moduleOf(await readFile(path));
  } catch (cause) {
    if (cause instanceof FetchError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const shown = missing ? "No such file or directory" : "its file cannot be read";
    throw new FetchError(missing ? `No such file or directory: ${path}` : reasonOf(cause), { cause, shown });
  }
}

function moduleOf(bytes: Uint8Array): FetchedModule {
  return { bytes, digest: digestOf(bytes) };
}
