/** Fetches the WASM files of a configuration (spec kubewarden.md 1.6): from files, by HTTP, or from OCI registries. */
import { stat } from "node:fs/promises";
import querystring from "node:querystring";
import { fileURLToPath } from "node:url";
import { Places } from "../config/places.js";
import { findModule, hashFile, type KeptFile, keptManifest, modulePath } from "./download-cache.js";
import { FetchError, reasonOf, TOO_LARGE, withoutSecrets } from "./fetch-error.js";
import type { AddressGuard } from "./http-client.js";
import { type ImageReference, isFloating, parseImageReference } from "./image-reference.js";
import { MAX_MODULE_BYTES } from "./limits.js";
import { localModuleShare, type ModuleShare } from "./module-share.js";
import type { Descriptor, Manifest } from "./registry.js";
import { openRegistries, type RegistryAccess, type RegistryAccessOptions } from "./registry-access.js";
import { digestOf, type ImageVerifier, layersOf, type RegistryClient } from "./registry-client.js";
import { objectIn } from "./registry-connection.js";
import { WASM_LAYER } from "./registry-writer.js";
import type { Release } from "./room.js";
import { type ModuleFile, moduleAt, type TransferOptions, Transfers, type Wanted } from "./transfers.js";

/** Limits of a policy's modules. */
export interface ModuleLimits {
  /** The namespace of the policy; absent for an operator's policy. */
  readonly namespace?: string;
  /** Permitted prefixes of addresses, redirects and token services; absent: any. */
  readonly places?: readonly string[];
  /** Largest module, in bytes; at most, and by default, {@link MAX_MODULE_BYTES}. */
  readonly maxBytes?: number;
}

/** Options of a fetcher. */
export interface ModuleFetcherOptions extends RegistryAccessOptions, TransferOptions {
  /** Verifier of images; with it, only modules from registries are accepted. */
  readonly verifier?: (registry: RegistryClient) => ImageVerifier;
  /** Whether modules in the download folder are requested again; older downloads then replace no failed one. */
  readonly refresh?: boolean;
  /** State shared with other fetchers; default: none. */
  readonly share?: ModuleShare;
  /** Guard for modules that others than the operator choose; absent: any host is permitted. */
  readonly guard?: AddressGuard;
}

/** Fetches modules; one per load of a configuration. */
export interface ModuleFetcher {
  /**
   * Fetches the module at a location (`ModuleAddress.location`); equal locations are fetched once, failures included.
   * @throws FetchError
   */
  file(location: string, limits?: ModuleLimits): Promise<ModuleFile>;
  /** Resolves when there is memory for this many bytes of modules, to be released later. @param owner the party that shares a part of it */
  memory(bytes: number, owner: string): Promise<Release>;
  /** The client, for other requests to registries. */
  readonly registry: RegistryClient;
  /** Closes connections. Files that are not held may then be removed from the download folder. */
  close(): Promise<void>;
}

/** Makes a fetcher. */
export const createModuleFetcher = (options: ModuleFetcherOptions): ModuleFetcher => new Fetcher(options);

class Fetcher implements ModuleFetcher {
  readonly registry: RegistryClient;
  readonly #access: RegistryAccess;
  readonly #options: ModuleFetcherOptions;
  readonly #share: ModuleShare;
  readonly #transfers: Transfers;
  readonly #files = new Map<string, Promise<ModuleFile>>();

  constructor(options: ModuleFetcherOptions) {
    const { share = localModuleShare() } = options;
    this.#access = openRegistries(options, options.guard);
    this.registry = this.#access.registry;
    this.#options = options;
    this.#share = share;
    this.#transfers = new Transfers(options, share);
  }

  file(location: string, limits: ModuleLimits = {}): Promise<ModuleFile> {
    const key = JSON.stringify([location, limits]);
    const file = this.#files.get(key) ?? this.#file(location, limits);
    this.#files.set(key, file);
    return file;
  }

  memory(bytes: number, owner: string): Promise<Release> {
    return this.#share.enter("memory", owner, bytes);
  }

  async close(): Promise<void> {
    await this.#access.close();
    await this.#transfers.close();
  }

  async #file(location: string, { namespace, places: texts, maxBytes = MAX_MODULE_BYTES }: ModuleLimits) {
    const scheme = location.slice(0, location.indexOf(":"));
    const places = texts && new Places(texts);
    if (places?.has(location) === false) {
      throw new FetchError(`${withoutSecrets(location)} is not below a place for modules of namespaced policies`, {
        shown: "it is not where modules of namespaced policies may come from",
      });
    }
    const registry = places === undefined ? this.registry : this.registry.within(places);
    const verifier = this.#options.verifier?.(registry);
    if (verifier !== undefined && scheme !== "registry") {
      throw new FetchError(`only modules from OCI registries can be verified, not ${withoutSecrets(location)}`, {
        stage: "verify",
        shown: "only modules from OCI registries can be verified",
      });
    }
    if (scheme === "file") return moduleAt(await localFile(location));
    const path = modulePath(this.#options.downloadDirectory, location);
    const wanted = { location, path, namespace, most: Math.min(maxBytes, MAX_MODULE_BYTES) };
    if (scheme === "registry") return this.#ofRegistry(wanted, registry, verifier);
    return this.#ofServer(wanted, places);
  }

  async #ofServer(wanted: Wanted, places: Places | undefined): Promise<ModuleFile> {
    const { url, headers } = withCredentials(wanted.location);
    this.#access.http.check(url);
    const permits = places && ((next: URL) => places.leadsTo(next));
    return this.#transfers.bring({
      ...wanted,
      find: async () => (this.#options.refresh === true ? undefined : find(wanted)),
      fill: async (signal, into) => {
        const answer = await this.#access.http.request(url, { headers, maxBytes: wanted.most, signal, into, permits });
        if (answer.status >= 200 && answer.status <= 299) return answer.body;
        throw new FetchError(`${answer.url.host} answers ${answer.status}`, {
          shown: `the server that has it answers ${answer.status}`,
        });
      },
    });
  }

  async #ofRegistry(wanted: Wanted, registry: RegistryClient, verifier: ImageVerifier | undefined) {
    const { location } = wanted;
    const named = parseImageReference(location.slice("registry://".length));
    this.#access.http.check(new URL(`https://${named.host}`));
    const kept = await find(wanted);
    // A file under a digest is trusted only with the manifest beside it.
    const isBelieved = kept !== undefined && (named.digest === undefined || (await hasDigest(kept, named.digest)));
    const mayStandIn = isBelieved && verifier === undefined && this.#options.refresh !== true;
    if (mayStandIn && !isFloating(named)) return this.#transfers.module(kept);
    try {
      return await this.#pull(wanted, named, registry, verifier);
    } catch (error) {
      // A failing registry must not end a server that only starts another process.
      if (!mayStandIn || !(error instanceof FetchError) || !error.transient) throw error;
      this.#options.warn?.(`${error.message}; ${location} is taken from the download folder, as last pulled`);
      return this.#transfers.module(kept);
    }
  }

  /** Fetches the manifest, and the module unless the kept one is the same. */
  async #pull(
    wanted: Wanted,
    named: ImageReference,
    registry: RegistryClient,
    verifier: ImageVerifier | undefined,
  ): Promise<ModuleFile> {
    const { location, namespace, most } = wanted;
    const leave = await this.#share.enter(
      namespace === undefined ? "downloads" : "namespacedQuestions",
      namespace ?? "",
      1,
    );
    let image = named;
    let manifest: Manifest;
    try {
      const signal = this.#transfers.timeFor(wanted);
      if (verifier !== undefined) image = { ...named, digest: await verifier.verify(named, signal) };
      manifest = await registry.manifest(image, signal);
    } finally {
      leave();
    }
    const layer = wasmLayer(manifest, location);
    return this.#transfers.bring({
      ...wanted,
      manifest: named.digest === undefined ? undefined : manifest.bytes,
      async find() {
        const kept = await find(wanted);
        return kept !== undefined && (await hasContent(kept, layer)) ? kept : undefined;
      },
      fill: (signal, into) => registry.blob(image, layer, most, signal, into),
    });
  }
}

/** Finds a module in the folder. An operator's module may be larger than a namespace's limit, which its users check. */
const find = ({ path, most }: Wanted): Promise<KeptFile | undefined> => findModule(path, most);

/** Whether the kept manifest has the digest, and names these bytes. */
async function hasDigest(kept: KeptFile, digest: string): Promise<boolean> {
  const bytes = await keptManifest(kept.path);
  const content = bytes && digestOf(bytes, digest) === digest ? objectIn(bytes) : undefined;
  const layer = content && layersOf({ content }).find(isWasm);
  return layer !== undefined && hasContent(kept, layer);
}

/** Moves user name and password of an address into the `authorization` header. */
function withCredentials(location: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(location);
  const { username, password } = url;
  if (username === "" && password === "") return { url, headers: {} };
  [url.username, url.password] = ["", ""];
  const credentials = Buffer.from(`${querystring.unescape(username)}:${querystring.unescape(password)}`);
  return { url, headers: { authorization: `Basic ${credentials.toString("base64")}` } };
}

async function hasContent({ path, digest }: KeptFile, layer: Descriptor): Promise<boolean> {
  const found = layer.digest.startsWith("sha256:") ? digest : await hashFile(path, layer.digest);
  return found === layer.digest;
}

const isWasm = ({ mediaType }: Descriptor): boolean => mediaType === WASM_LAYER;

/** The first WASM layer. */
function wasmLayer(manifest: Manifest, location: string): Descriptor {
  const layer = layersOf(manifest).find(isWasm);
  if (layer !== undefined) return layer;
  throw new FetchError(`could not pull policy ${location}: empty layers`, {
    shown: "the image has no layer of a module",
  });
}

async function localFile(location: string): Promise<KeptFile> {
  const path = fileURLToPath(location);
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw new FetchError(`${path} is not a file`, { shown: "it is not a file" });
    if (stats.size > MAX_MODULE_BYTES)
      throw new FetchError(`${path} has ${stats.size} bytes, more than ${MAX_MODULE_BYTES}`, { shown: TOO_LARGE });
    return { path, size: stats.size, digest: await hashFile(path) };
  } catch (cause) {
    if (cause instanceof FetchError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const shown = missing ? "No such file or directory" : "its file cannot be read";
    throw new FetchError(missing ? `No such file or directory: ${path}` : reasonOf(cause), { cause, shown });
  }
}
