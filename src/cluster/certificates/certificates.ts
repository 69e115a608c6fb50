import type { ClusterPart } from "../part.js";

/** The server's certificates as the other parts of the agent see them. */
export interface Certificates extends ClusterPart {
  /** Settles when there is a certificate to serve; rejects when none has come in time, with what is missing. */
  readonly ready: Promise<void>;
  /**
   * The authorities that webhook configurations have to carry, PEM.
   * @returns `undefined` while that is not known: until then nothing is to be written
   */
  caBundle(): string | undefined;
  /**
   * Calls when {@link caBundle} has changed.
   * @returns takes it back
   */
  changed(call: () => void): () => void;
  /** Looks again: what was asked of others may have another answer now. */
  look(): void;
}

/** A certificate chain and its key, as those who serve get it. */
export interface CertificatePair {
  /** PEM: the server's own certificate first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

/** Those who serve, as far as certificates go. */
export interface SecuredServing {
  /** Has all processes of this replica serve it to new connections; resolves when they do. Never rejects. */
  secure(pair: CertificatePair): Promise<void>;
}

/** Why there is no certificate to begin with; for the user. */
export class NoCertificateError extends Error {
  readonly code = "NO_CERTIFICATE";
  override readonly name = "NoCertificateError";
}
