import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { ToWorker } from "./messages.js";
import { tell } from "./tell.js";

/** The certificate that the other processes serve, for one that begins; undefined when there is none yet. */
export function firstCertificate(): Promise<CertificatePair | undefined> {
  return new Promise((resolve) => {
    const hear = (message: ToWorker): void => {
      if (message.type !== "secure") return;
      process.off("message", hear);
      resolve(message.pair);
    };
    process.on("message", hear);
    tell({ type: "certificate-wanted" });
  });
}
