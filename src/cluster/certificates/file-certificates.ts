/**
 * `--cert-file` with `--webhook-ca-file`: certificates that are replaced from outside. Serving processes reload them by themselves; this part reads their
 * authorities.
 */
import type { Clock } from "../../data/clock.js";
import type { Logger } from "../../telemetry/logger.js";
import { type Certificates, NoCertificateError } from "./certificates.js";
import { bundleText, ContentError, readAuthorities } from "./content.js";

/** A list of callbacks. */
export class Listeners {
  readonly #calls = new Set<() => void>();

  /** @returns removes the callback */
  add(call: () => void): () => void {
    // The same function may be there twice.
    const own = (): void => call();
    this.#calls.add(own);
    return () => this.#calls.delete(own);
  }

  /** Calls all of them. */
  tell(): void {
    for (const call of this.#calls) call();
  }
}

/** Interval of reading the files: webhooks must trust new authorities before their certificates come, so nothing is urgent. */
const FILES_LOOK_MS = 10_000;

/** The options. */
export interface FileCertificatesOptions {
  /** Absent: another server terminates TLS. */
  readonly certFile?: string;
  /** Authorities for webhooks; absent: the last certificate of `certFile`. */
  readonly caFile?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The text of a file. */
  readonly read: (file: string) => Promise<string>;
}

/** Reads files until stopped. Without any file the bundle is empty: API servers then trust the authorities of their own system. */
export class FileCertificates implements Certificates {
  readonly ready: Promise<void>;
  readonly #options: FileCertificatesOptions;
  readonly #listeners = new Listeners();
  #bundle: string | undefined;
  #said = "";
  #cancel: () => void = () => {};
  #stopped = false;
  #reading: Promise<void>;

  constructor(options: FileCertificatesOptions) {
    this.#options = options;
    this.ready = this.#read().catch((error: unknown) => {
      throw new NoCertificateError(`no authority for webhooks: ${messageOf(error)}`, { cause: error });
    });
    // Callers that wait for it get the error, too.
    this.#reading = this.ready.catch((error: unknown) => this.#complain(error));
    void this.#reading.then(() => this.#later());
  }

  unready(): string | undefined {
    return this.#bundle === undefined ? this.#said || "the authorities for webhooks have not been read yet" : undefined;
  }

  caBundle(): string | undefined {
    return this.#bundle;
  }

  changed(call: () => void): () => void {
    return this.#listeners.add(call);
  }

  look(): void {}

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#reading;
  }

  #later(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.after(FILES_LOOK_MS, () => {
      this.#reading = this.#read().catch((error: unknown) => this.#complain(error));
      void this.#reading.then(() => this.#later());
    });
  }

  async #read(): Promise<void> {
    const { certFile, caFile, read } = this.#options;
    const file = caFile ?? certFile;
    const found = file === undefined ? [] : readAuthorities(await read(file), file);
    if (file !== undefined && found.length === 0) throw new ContentError(`${file} holds no certificate`);
    const bundle = bundleText(caFile === undefined ? found.slice(-1) : found);
    this.#said = "";
    if (bundle === this.#bundle) return;
    this.#bundle = bundle;
    this.#listeners.tell();
  }

  #complain(error: unknown): void {
    const reason = messageOf(error);
    if (reason === this.#said) return;
    this.#said = reason;
    this.#options.log.error("the authorities for webhooks can't be read: those that were known stay", { reason });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
