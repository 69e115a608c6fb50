/** Downloads modules into the download folder, piece by piece; into memory where the folder can't be written and the module is an operator's. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { discard, type KeptFile, keep, keepManifest, type ReceivedFile, readKept, receive } from "./download-cache.js";
import { CannotKeep, FetchError, reasonOf, withoutSecrets } from "./fetch-error.js";
import { FilesInUse, makeRoom } from "./folder-bound.js";
import type { TakesPieces } from "./http-client.js";
import { DOWNLOAD_TIMEOUT_MS, MAX_MODULE_BYTES, MAX_OTHER_BYTES, NAMESPACED_TIMEOUT_MS } from "./limits.js";
import type { ModuleShare } from "./module-share.js";
import { digestOf } from "./registry-client.js";
import type { Release } from "./room.js";

/** Folder for modules when the download folder can't be written, in the system's temporary folder. */
const TEMPORARY_FOLDER = "policy-server-modules";

/** A module that was fetched: its bytes are read when they are needed, so that no process holds them. */
export interface ModuleFile {
  /** Size in bytes. */
  readonly size: number;
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
  /** Reads the bytes, for a single reader. @throws FetchError when they can't be read, or are no longer the same */
  read(): Promise<Uint8Array>;
  /** Keeps the file in its place until the result is called. */
  hold(): Release;
}

/** A requested module. */
export interface Wanted {
  /** `ModuleAddress.location`. */
  readonly location: string;
  /** Its path in the download folder. */
  readonly path: string;
  /** The namespace that it is for; absent for an operator's. */
  readonly namespace: string | undefined;
  /** Largest size, in bytes. */
  readonly most: number;
}

/** A module to be downloaded. */
export interface Transfer extends Wanted {
  /** The manifest to be kept beside it, whose digest was requested. */
  readonly manifest?: Uint8Array | undefined;
  /** Finds it in the folder; called again at its turn, since others fetch, too. */
  find(): Promise<KeptFile | undefined>;
  /** Downloads the bytes; resolves with none when `into` receives them. */
  fill(signal: AbortSignal, into?: TakesPieces): Promise<Uint8Array>;
}

/** Options of transfers. */
export interface TransferOptions {
  /** The download folder (`--policies-download-dir`). */
  readonly downloadDirectory: string;
  /** Receives problems that don't stop a fetch, such as a download folder that can't be written. */
  readonly warn?: (message: string) => void;
  /** Time for one module in milliseconds; default by its owner and size. */
  readonly timeoutMilliseconds?: number;
}

/** The transfers of one fetcher. */
export class Transfers {
  readonly #options: TransferOptions;
  readonly #share: ModuleShare;
  readonly #inUse = new FilesInUse();
  readonly #ends: (() => unknown)[] = [];
  #closed = false;

  constructor(options: TransferOptions, share: ModuleShare) {
    this.#options = options;
    this.#share = share;
  }

  /** A signal that is aborted when the time for a module is over. */
  timeFor({ namespace, most }: Wanted): AbortSignal {
    const part = namespace === undefined ? 1 : most / MAX_MODULE_BYTES;
    const usual = Math.max(NAMESPACED_TIMEOUT_MS, DOWNLOAD_TIMEOUT_MS * part);
    return AbortSignal.timeout(this.#options.timeoutMilliseconds ?? usual);
  }

  /** Makes a module of a file. It stays until {@link close}. */
  module(kept: KeptFile): ModuleFile {
    const hold = () => this.#inUse.hold(kept.path);
    this.#atEnd(hold());
    return moduleAt(kept, hold);
  }

  /** @throws FetchError */
  async bring(transfer: Transfer): Promise<ModuleFile> {
    const share = this.#share;
    const { path, namespace, most } = transfer;
    const found = await this.#found(transfer);
    if (found !== undefined) return found;
    // The owner's address only: waiting for a turn blocks no other namespace from it.
    const leaveAddress = await share.enter("address", `${namespace ?? ""} ${path}`, 1);
    try {
      const brought = await this.#found(transfer);
      if (brought !== undefined) return brought;
      const leave = await (namespace === undefined
        ? share.enter("downloads", "", 1)
        : share.enter("namespacedDownloads", namespace, most));
      return await this.#download(transfer).finally(leave);
    } finally {
      leaveAddress();
    }
  }

  async #found({ find, path, manifest }: Transfer): Promise<ModuleFile | undefined> {
    const kept = await find();
    if (kept !== undefined && manifest !== undefined) await keepManifest(path, manifest).catch(() => {});
    return kept && this.module(kept);
  }

  /** Releases files; removes those without a place in the folder. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends.splice(0)) await end();
  }

  /**
   * Downloads a module. A folder that can't be written costs another download, not the policy. Modules of namespaces are not held in memory, since
   * their number is unbounded.
   */
  async #download(transfer: Transfer, folder = this.#options.downloadDirectory): Promise<ModuleFile> {
    const { warn } = this.#options;
    const { location, namespace, fill } = transfer;
    const signal = this.timeFor(transfer);
    const scheme = location.slice(0, location.indexOf(":"));
    let received: ReceivedFile;
    try {
      received = await receive(folder, scheme, (take) => fill(signal, take));
    } catch (cause) {
      if (!(cause instanceof CannotKeep)) throw cause;
      const [reason, temporary] = [reasonOf(cause), join(tmpdir(), TEMPORARY_FOLDER)];
      if (folder !== temporary) {
        warn?.(`cannot keep ${withoutSecrets(location)} in the download folder: ${reason}`);
        return this.#download(transfer, temporary);
      }
      if (namespace === undefined) return inMemory(await fill(signal));
      throw new FetchError(`there is no folder to write it to: ${reason}`, { cause, unanswered: true });
    }
    const end = () => discard(received.path, folder);
    try {
      if (received.isModule) {
        const module = this.module((await this.#named(received, transfer, folder)) ?? received);
        this.#atEnd(end);
        return module;
      }
      // A file that is not a module (such as an error page) is not kept: it would be found again at each start. But it may be a manifest of one.
      if (received.size > MAX_OTHER_BYTES)
        throw new FetchError(`${withoutSecrets(location)} is not a module, and too large for a manifest`);
      const bytes = await readKept(received);
      await end();
      return inMemory(bytes);
    } catch (cause) {
      await end();
      throw cause;
    }
  }

  /** Gives a module its place in the folder. @returns undefined when it may stay only until it is loaded */
  async #named(received: ReceivedFile, { location, path, namespace, manifest }: Transfer, folder: string) {
    const { downloadDirectory, warn } = this.#options;
    const isTemporary = folder !== downloadDirectory;
    const most = isTemporary ? 0 : (this.#share.maxFolderBytes ?? Number.POSITIVE_INFINITY);
    const room = await makeRoom(folder, received, path, most, namespace === undefined);
    if (room === "full") {
      const shown = "there is no room for it at the moment";
      const reason = `${shown}: too many modules that can't be kept are being loaded`;
      throw new FetchError(reason, { unanswered: true, shown });
    }
    if (isTemporary) return undefined;
    try {
      if (room === "kept") return await keep(received, path, manifest);
      warn?.(`${withoutSecrets(location)} is not kept: the download folder is full of modules that are in use`);
    } catch (cause) {
      warn?.(`cannot keep ${withoutSecrets(location)} in the download folder: ${reasonOf(cause)}`);
    }
    return undefined;
  }

  #atEnd(end: () => unknown): void {
    if (this.#closed) void end();
    else this.#ends.push(end);
  }
}

/** Makes a module of a file. @param hold see `ModuleFile.hold`; default: the file is not removed by others */
export function moduleAt(kept: KeptFile, hold: () => Release = () => () => {}): ModuleFile {
  const read = () =>
    readKept(kept).catch((cause: unknown) => {
      throw new FetchError(reasonOf(cause), { cause, unanswered: true, shown: "its file cannot be read" });
    });
  return { size: kept.size, digest: kept.digest, hold, read };
}

function inMemory(bytes: Uint8Array): ModuleFile {
  const read = async () => Uint8Array.from(bytes);
  return { size: bytes.length, digest: digestOf(bytes), hold: () => () => {}, read };
}
