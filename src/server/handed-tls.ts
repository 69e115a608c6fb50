/** Certificates that are set while the server runs. Until the first one has come no handshake succeeds. */
import type { TlsOptions } from "node:tls";
import type { Logger } from "../telemetry/logger.js";
import { type FileWatch, watchFiles } from "./file-watch.js";
import { readClientOptions, type TlsClients, type TlsMaterial, type TlsPair, tlsMaterial } from "./tls-material.js";

/** The options. */
export interface HandedTlsOptions {
  readonly clients: TlsClients;
  readonly logger: Logger;
  /** Applies new material. */
  readonly use: (material: TlsMaterial) => void;
  /** Milliseconds between checks of the files of client authorities. */
  readonly interval?: number;
}

/** Keeps the last certificate, together with the options for clients. */
export class HandedTls {
  readonly #options: HandedTlsOptions;
  #clients: TlsOptions;
  #pair: TlsPair | undefined;
  #watch: FileWatch | undefined;

  private constructor(options: HandedTlsOptions, clients: TlsOptions) {
    this.#options = options;
    this.#clients = clients;
  }

  /**
   * Reads the options for clients, and watches their files until closed.
   * @throws TlsMaterialError
   */
  static async open(options: HandedTlsOptions): Promise<HandedTls> {
    const handed = new HandedTls(options, await readClientOptions(options.clients));
    const { clientCaFiles } = options.clients;
    handed.#watch = await watchFiles({
      paths: () => clientCaFiles,
      changed: () => handed.#readClients(),
      ...(options.interval !== undefined && { interval: options.interval }),
    });
    return handed;
  }

  /** The initial TLS options of a server. */
  get initial(): TlsOptions {
    return this.#pair === undefined ? this.#clients : tlsMaterial(this.#pair, this.#clients).options;
  }

  /**
   * Takes a certificate for new connections.
   * @throws TlsMaterialError when it can't be used: the former one stays
   */
  take(pair: TlsPair): void {
    const material = tlsMaterial(pair, this.#clients);
    this.#pair = pair;
    this.#options.use(material);
  }

  close(): void {
    this.#watch?.close();
  }

  async #readClients(): Promise<void> {
    const { clients, logger } = this.#options;
    try {
      this.#clients = await readClientOptions(clients);
      if (this.#pair !== undefined) this.take(this.#pair);
      logger.info("authorities of clients reloaded");
    } catch (error) {
      // Often the middle of a change: the next check finds the rest of it.
      logger.error(
        `Failed to reload the authorities of clients: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
