/** Certificates that change while the server runs: new ones are used for new connections; unusable ones are reported, and the last good ones kept. */
import type { Logger } from "../telemetry/logger.js";
import { type FileWatch, WATCH_INTERVAL_MS, watchFiles } from "./file-watch.js";
import { readTlsMaterial, type TlsFiles, type TlsMaterial } from "./tls-material.js";

/** The options of rotation. */
export interface TlsRotationOptions {
  readonly files: TlsFiles;
  readonly logger: Logger;
  /** Applies new material. */
  readonly use: (material: TlsMaterial) => void;
  /** Milliseconds between checks of the files. */
  readonly interval?: number;
}

/** Watches the files until closed. `initial` is the material in force. */
export async function rotateTls(initial: TlsMaterial, options: TlsRotationOptions): Promise<FileWatch> {
  const { files, logger, use, interval = WATCH_INTERVAL_MS } = options;
  let current = initial;
  return watchFiles({
    paths: () => [files.certFile, files.keyFile, ...files.clientCaFiles],
    interval,
    changed: async () => {
      try {
        current = await readTlsMaterial(files);
        use(current);
        logger.info("TLS certificates reloaded", {
          fingerprint: current.fingerprint,
          expires: new Date(current.expires).toISOString(),
        });
      } catch (error) {
        // Often the middle of a rotation: the next check finds the rest of it.
        const reason = error instanceof Error ? error.message : String(error);
        logger.error(`Failed to reload TLS certificates: ${reason}`, { in_force: current.fingerprint });
      }
    },
  });
}
