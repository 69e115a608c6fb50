import type { Replicas } from "../replicas.js";

/** The key under which replicas announce the fingerprint of the certificate that they serve. */
export const CERTIFICATE_FACT = "certificate";

/** Whether all live replicas serve this certificate; when no replica is known, that is not known either. */
export const allServe = ({ live }: Pick<Replicas, "live">, fingerprint: string): boolean =>
  live.length > 0 && live.every(({ facts }) => facts[CERTIFICATE_FACT] === fingerprint);
