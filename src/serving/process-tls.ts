/** The certificate of a serving process: from watched files, or from the process that follows a Secret. */
import type { TlsOptions } from "node:tls";
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { FileWatch } from "../server/file-watch.js";
import { HandedTls } from "../server/handed-tls.js";
import type { RunningServer } from "../server/server.js";
import { readTlsMaterial, type TlsFiles, type TlsMaterial } from "../server/tls-material.js";
import { rotateTls } from "../server/tls-rotation.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics } from "../telemetry/metrics.js";
import type { ServeSettings } from "./settings.js";

/** Options of a process' TLS. */
export interface ProcessTlsOptions {
  readonly settings: Pick<ServeSettings, "tls">;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The certificate from the Secret, if there is one already. */
  readonly certificate?: CertificatePair;
}

/** A server's certificate and its changes. */
export interface ProcessTls {
  /** The first options. */
  readonly initial: TlsOptions;
  /** Passes later changes to the server. */
  follow(server: Pick<RunningServer, "secure">): Promise<void>;
  /**
   * Uses a certificate from the Secret.
   * @throws TlsMaterialError when it can't be used: the old one stays
   */
  take(pair: CertificatePair): void;
  close(): void;
}

/**
 * Opens the certificate of the settings; undefined for plain HTTP.
 * @throws TlsMaterialError
 */
export async function openTls(options: ProcessTlsOptions): Promise<ProcessTls | undefined> {
  const { tls } = options.settings;
  if (tls === undefined) return undefined;
  return "certFile" in tls ? fromFiles(options, tls) : handedOver(options, tls);
}

async function fromFiles({ logger, metrics }: ProcessTlsOptions, files: TlsFiles): Promise<ProcessTls> {
  const initial = await readTlsMaterial(files);
  let { expires } = initial;
  metrics.gauge("certificate_expiry_timestamp_seconds", () => expires / 1000);
  let watch: FileWatch | undefined;
  return {
    initial: initial.options,
    follow: async (server) => {
      const use = (material: TlsMaterial): void => {
        expires = material.expires;
        server.secure(material.options);
      };
      watch = await rotateTls(initial, { files, logger, use });
    },
    take() {},
    close: () => watch?.close(),
  };
}

async function handedOver(
  { logger, metrics, certificate }: ProcessTlsOptions,
  clients: NonNullable<ServeSettings["tls"]>,
): Promise<ProcessTls> {
  let expires: number | undefined;
  let running: Pick<RunningServer, "secure"> | undefined;
  const use = (material: TlsMaterial): void => {
    if (expires === undefined) metrics.gauge("certificate_expiry_timestamp_seconds", () => (expires ?? 0) / 1000);
    expires = material.expires;
    running?.secure(material.options);
  };
  const handed = await HandedTls.open({ clients, logger, use });
  const take = (pair: CertificatePair): void =>
    handed.take({ ...pair, certificateName: "the certificate that was handed over", keyName: "its key" });
  if (certificate !== undefined) take(certificate);
  return {
    get initial() {
      return handed.initial;
    },
    follow: async (server) => {
      running = server;
    },
    take,
    close: () => handed.close(),
  };
}
