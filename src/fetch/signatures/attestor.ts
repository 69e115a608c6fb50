/** Attestors of ImageValidatingPolicies, as data: every expression in them is evaluated (spec kyverno.md 9). */
import type { ImageReference } from "../image-reference.js";
import type { Registry } from "../registry.js";

/** An image whose attestors are asked. */
export interface Attested {
  readonly registry: Registry;
  readonly image: ImageReference;
  /** The digest of its manifest or index. */
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** A signer whose word counts, by one of `cosign` and `notary`. */
export interface Attestor {
  readonly name: string;
  readonly cosign?: CosignAttestor;
  readonly notary?: NotaryAttestor;
}

/** A signer by a key, a certificate, or an identity (keyless). */
export interface CosignAttestor {
  /** A public key in PEM; the hash is sha224, sha256 (default), sha384 or sha512. */
  readonly key?: { readonly data?: string; readonly hashAlgorithm?: string };
  /** Texts in PEM; the chain begins with the issuer of the certificate and ends with the root. */
  readonly certificate?: { readonly cert?: string; readonly certChain?: string };
  readonly keyless?: {
    /** One of them must fit; none: any identity. */
    readonly identities?: readonly SignerPattern[];
    /** Roots in PEM, in place of the trust root's authorities. */
    readonly roots?: string;
    /** Values of Fulcio's extensions by their names. */
    readonly additionalExtensions?: Readonly<Record<string, string>>;
  };
  /** The place of signatures, where it is not the image's repository. */
  readonly source?: { readonly repository?: string; readonly tagPrefix?: string };
  readonly ctlog?: {
    /** Keys in PEM, in place of the trust root's logs. */
    readonly rekorPubKey?: string;
    readonly ctLogPubKey?: string;
    /** Certificates in PEM of a timestamp authority. */
    readonly tsaCertChain?: string;
    readonly insecureIgnoreTlog?: boolean;
    readonly insecureIgnoreSCT?: boolean;
  };
  /** All of them must be among the signed annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** A trusted root in JSON, in place of the server's. */
  readonly trustedRoot?: string;
}

/** An identity: each member that is present must fit. Expressions are Go's regular expressions, and may fit anywhere in the text. */
export interface SignerPattern {
  readonly issuer?: string;
  readonly subject?: string;
  readonly issuerRegExp?: string;
  readonly subjectRegExp?: string;
}

/** A signer of the Notary project: texts in PEM. */
export interface NotaryAttestor {
  readonly certs?: string;
  readonly tsaCerts?: string;
}

/** The signed thing: the image itself, an in-toto statement about it, or an artifact that refers to it. */
export type Sought =
  | { readonly kind: "signature" }
  | { readonly kind: "intoto"; readonly predicateType: string }
  | { readonly kind: "referrer"; readonly artifactType: string };

/** The answer about an attestor: JSON data. */
export interface AttestorVerdict {
  readonly verified: boolean;
  /** One reason for each signature that does not count, or why there is none; at most {@link MAX_REASONS}. Without addresses and files. */
  readonly reasons: readonly string[];
  /** The signed content in JSON, of statements and artifacts: the last one that is verified. */
  readonly payload?: unknown;
}

/** Most reasons of one answer. */
export const MAX_REASONS = 10;
