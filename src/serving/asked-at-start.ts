/** Questions of a new process to the primary before it starts. */
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { ClusterDelta } from "../config/from-cluster/cluster-document.js";
import type { ToPrimary, ToWorker } from "./messages.js";
import { tell } from "./to-primary.js";

/**
 * Asks the primary for the state of the cluster.
 * @param known the version that this process has; 0: none
 * @returns everything; undefined: that version is current
 */
export const clusterAtBegin = async (known: number): Promise<ClusterDelta | undefined> =>
  (await answerTo({ type: "begin-wanted", known }, "begin"))?.delta;

/** Asks the primary for the certificate that the other processes serve; undefined when there is none yet. */
export const firstCertificate = async (): Promise<CertificatePair | undefined> =>
  (await answerTo({ type: "certificate-wanted" }, "secure"))?.pair;

/** Asks the primary. Without a primary this process ends soon; until then it does not wait for an answer. */
function answerTo<T extends ToWorker["type"]>(
  question: ToPrimary,
  type: T,
): Promise<(ToWorker & { readonly type: T }) | undefined> {
  return new Promise((resolve) => {
    const end = (message?: ToWorker & { readonly type: T }): void => {
      process.off("message", hear);
      process.off("disconnect", end);
      resolve(message);
    };
    const hear = (message: ToWorker): void => {
      if (message.type === type) end(message as ToWorker & { readonly type: T });
    };
    process.on("message", hear);
    process.once("disconnect", end);
    tell(question);
  });
}
