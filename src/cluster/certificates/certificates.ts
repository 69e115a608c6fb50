import type { ClusterPart } from "../part.js";

/** The server's certificates, for the other parts of the agent. */
export interface Certificates extends ClusterPart {
  /** Settles when there is a certificate to serve; rejects when none has come in time, with the reason. */
  readonly ready: Promise<void>;
  /**
   * The authorities for webhook configurations, PEM.
   * @returns `undefined` until they are known: until then nothing must be written
   */
  caBundle(): string | undefined;
  /**
   * Calls back when {@link caBundle} has changed.
   * @returns removes the callback
   */
  changed(call: () => void): () => void;
  /** Checks again: conditions outside of it may have changed. */
  look(): void;
}

/** A certificate chain and its key, for the serving processes. */
export interface CertificatePair {
  /** PEM: the server's own certificate first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

/** The serving processes, as far as certificates are concerned. */
export interface SecuredServing {
  /** Has all processes of this replica use it for new connections; resolves when they do. Never rejects. */
  secure(pair: CertificatePair): Promise<void>;
}

/** Why there is no certificate at the start; for the user. */
export class NoCertificateError extends Error {
  readonly code = "NO_CERTIFICATE";
  override readonly name = "NoCertificateError";
}
