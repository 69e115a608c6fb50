/** Brings modules into the download folder, piece by piece; into memory where that can't be written. */
import { resolve } from "node:path";
import { type ByteSink, CannotKeep, Collected } from "./byte-sink.js";
import { type DownloadCache, type IncomingFile, type KeptFile, readKept } from "./download-cache.js";
import { FetchError, reasonOf, withoutSecrets } from "./fetch-error.js";
import { DOWNLOAD_TIMEOUT_MS, MAX_MODULE_BYTES, MAX_OTHER_BYTES, NAMESPACED_TIMEOUT_MS } from "./limits.js";
import type { ModuleShare } from "./module-share.js";
import { digestOf } from "./registry-client.js";
import type { Release } from "./room.js";

/** A module that was fetched: its bytes are read when they are needed, so that no process holds them. */
export interface ModuleFile {
  /** Bytes. */
  readonly size: number;
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
  /** For those who read alone. @throws FetchError when they can't be read, or are no longer the same */
  read(): Promise<Uint8Array>;
  /** Keeps the file where it is until that is released. */
  hold(): Promise<Release>;
}

/** A module to be brought. */
export interface Transfer {
  /** `ModuleAddress.location`. */
  readonly location: string;
  /** The namespace of those who want it; absent: it is for an operator. */
  readonly namespace?: string | undefined;
  /** Largest size, in bytes. */
  readonly most: number;
  /** Kept beside it: the manifest by whose digest it is asked for. */
  readonly manifest?: Uint8Array | undefined;
  /** What lies in the folder already; asked again when it is this one's turn, since others fetch, too. */
  find(): Promise<KeptFile | undefined>;
  /** Sends the bytes. */
  fill(into: ByteSink, signal: AbortSignal): Promise<unknown>;
}

/** How modules are brought. */
export interface TransferOptions {
  readonly cache: DownloadCache;
  readonly share: ModuleShare;
  readonly warn: (message: string) => void;
  /** Time for one, in milliseconds; default by what it is for. */
  readonly timeoutMilliseconds?: number | undefined;
}

/** The transfers of one fetcher. */
export class Transfers {
  readonly #options: TransferOptions;
  readonly #ends: (() => unknown)[] = [];
  #closed = false;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  /** Time for a module, in milliseconds. */
  timeFor({ namespace, most }: Pick<Transfer, "namespace" | "most">): number {
    const usual =
      namespace === undefined
        ? DOWNLOAD_TIMEOUT_MS
        : Math.max(NAMESPACED_TIMEOUT_MS, (DOWNLOAD_TIMEOUT_MS * most) / MAX_MODULE_BYTES);
    return this.#options.timeoutMilliseconds ?? usual;
  }

  /** Keeps whatever lies at the path of a location until {@link close}. */
  async pin(location: string): Promise<void> {
    this.#atEnd(await this.#options.share.pin(this.#path(location)));
  }

  /** What lies in the folder, as a module. */
  module(kept: KeptFile): ModuleFile {
    return moduleAt(kept, () => this.#options.share.pin(resolve(kept.path)));
  }

  /** @throws FetchError */
  async bring(transfer: Transfer): Promise<ModuleFile> {
    const { share } = this.#options;
    const { location, namespace, most } = transfer;
    // Not of others: who waits for a turn keeps nobody else from the address.
    const leaveAddress = await share.enter("address", `${namespace ?? ""} ${this.#path(location)}`, 1);
    try {
      const found = await transfer.find();
      if (found !== undefined) return this.module(found);
      const leave = await (namespace === undefined
        ? share.enter("downloads", "", 1)
        : share.enter("namespacedDownloads", namespace, most));
      try {
        return await this.#download(transfer);
      } finally {
        leave();
      }
    } finally {
      leaveAddress();
    }
  }

  /** Removes what has no place in the folder, and lets go of the rest. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends.splice(0)) await end();
  }

  /** A folder that can't be written costs another download, not the policy; its bytes are held in memory only where that is an operator's matter. */
  async #download(transfer: Transfer): Promise<ModuleFile> {
    const { cache, warn } = this.#options;
    const { location, fill } = transfer;
    const signal = AbortSignal.timeout(this.timeFor(transfer));
    let file: IncomingFile | undefined;
    try {
      file = await cache.incoming(location);
      await fill(file, signal);
      return await this.#finished(file, transfer);
    } catch (cause) {
      await file?.discard();
      if (!(cause instanceof CannotKeep)) throw cause;
      warn(`cannot keep ${withoutSecrets(location)} in the download folder: ${reasonOf(cause)}`);
    }
    try {
      file = await cache.passing();
      await fill(file, signal);
      const kept = await file.finish();
      return file.isModule ? await this.#pass(file, kept, transfer) : await readOther(file, kept, location);
    } catch (cause) {
      await file?.discard();
      if (!(cause instanceof CannotKeep)) throw cause;
      if (transfer.namespace !== undefined)
        throw new FetchError(`there is no folder to write it to: ${reasonOf(cause)}`, { cause, unanswered: true });
    }
    const collected = new Collected();
    await fill(collected, signal);
    return inMemory(collected.bytes);
  }

  /** What is no module (a page that says "come back later") is not kept: it would be found again at each start. */
  async #finished(file: IncomingFile, transfer: Transfer): Promise<ModuleFile> {
    const { share, warn } = this.#options;
    const { location, namespace, manifest } = transfer;
    const kept = await file.finish();
    if (!file.isModule) return readOther(file, kept, location);
    if (await share.place(this.#path(location), kept.size, namespace === undefined ? "always" : "kept"))
      return this.module(await file.keep(kept, manifest));
    warn(`${withoutSecrets(location)} is not kept: the download folder is full of modules that are in use`);
    return this.#pass(file, kept, transfer);
  }

  /** A file that goes with this fetcher. */
  async #pass(file: IncomingFile, kept: KeptFile, { namespace }: Transfer): Promise<ModuleFile> {
    const { share } = this.#options;
    this.#atEnd(await share.pin(kept.path));
    if (namespace !== undefined && !(await share.place(kept.path, kept.size, "passing"))) {
      const shown = "there is no room for it at the moment";
      throw new FetchError(`${shown}: too many modules that can't be kept are being loaded`, {
        unanswered: true,
        shown,
      });
    }
    this.#atEnd(() => file.discard());
    return moduleAt(kept);
  }

  #path(location: string): string {
    return resolve(this.#options.cache.path(location));
  }

  #atEnd(end: () => unknown): void {
    if (this.#closed) void end();
    else this.#ends.push(end);
  }
}

/** A file, as a module. @param hold see `ModuleFile.hold`; default: nobody else removes it */
export function moduleAt(kept: KeptFile, hold: () => Promise<Release> = async () => () => {}): ModuleFile {
  const { size, digest } = kept;
  const read = () =>
    readKept(kept).catch((cause: unknown) => {
      throw new FetchError(reasonOf(cause), { cause, unanswered: true, shown: "its file cannot be read" });
    });
  return { size, digest, hold, read };
}

/** What is no module, but may be a manifest of one. */
async function readOther(file: IncomingFile, kept: KeptFile, location: string): Promise<ModuleFile> {
  if (kept.size > MAX_OTHER_BYTES)
    throw new FetchError(`${withoutSecrets(location)} is no module, and too large for a manifest`);
  const bytes = await readKept(kept);
  await file.discard();
  return inMemory(bytes);
}

function inMemory(bytes: Uint8Array): ModuleFile {
  return {
    size: bytes.length,
    digest: digestOf(bytes),
    hold: async () => () => {},
    read: async () => Uint8Array.from(bytes),
  };
}
