/**
 * Whether a certificate chains up to a trusted one at a given moment: validity, authority, path length, name constraints, signatures. The order of
 * checks, and the reported problem, are those of the reference implementation's library.
 */
import { type Certificate, readCertificate } from "./certificate.js";
import { DerReader, readAll, TAG } from "./der.js";
import { checkNames, MOST_COMPARISONS } from "./name-constraints.js";
import { CertificateProblem, type ProblemName } from "./problem.js";
import { checkSignature } from "./signature.js";

/** The answer, in the words of spec kubewarden.md 7.5. */
export interface Trust {
  readonly trusted: boolean;
  /** Empty when trusted. */
  readonly reason: string;
}

const REASONS: Readonly<Partial<Record<ProblemName, string>>> = {
  CertExpired: "Certificate is being used after its expiration date",
  CertNotValidYet: "Certificate is being used before its validity date",
  InvalidSignatureForPublicKey: "Certificate is not trusted by the provided cert chain",
  UnknownIssuer: "Certificate is not trusted by the provided cert chain",
};

/** Certificates between leaf and root. */
const MOST_INTERMEDIATES = 6;
/** Signatures checked for one question: intermediates may all have signed each other. */
const MOST_SIGNATURES = 100;
/** Steps of the search for one question. */
const MOST_STEPS = 200_000;
/** Bit of a key usage that lets a key sign certificates. */
const KEY_CERT_SIGN = 5;

/**
 * @param intermediates DER
 * @param anchors trusted by name, key and name constraints; their other fields do not count
 * @param at milliseconds since 1970
 */
export function trustOf(
  leaf: Certificate,
  intermediates: readonly Buffer[],
  anchors: readonly Certificate[],
  at: number,
): Trust {
  try {
    // Certificates know no fractions of a second.
    new Search(intermediates, anchors, Math.floor(at / 1000) * 1000).extend([leaf]);
    return { trusted: true, reason: "" };
  } catch (error) {
    if (!(error instanceof CertificateProblem)) throw error;
    return { trusted: false, reason: REASONS[error.problem] ?? `Certificate not trusted: ${error.problem}` };
  }
}

/** One search for a path; counts what it costs. */
class Search {
  #signatures = 0;
  #steps = 0;
  #comparisons = 0;
  readonly #intermediates: readonly Buffer[];
  readonly #anchors: readonly Certificate[];
  readonly #at: number;

  constructor(intermediates: readonly Buffer[], anchors: readonly Certificate[], at: number) {
    this.#intermediates = intermediates;
    this.#anchors = anchors;
    this.#at = at;
  }

  /**
   * Extends the path from its first certificate to an anchor.
   * @param path issuers first, the leaf last
   * @throws CertificateProblem with the highest rank
   */
  extend(path: readonly Certificate[]): void {
    const [head] = path;
    if (head === undefined) return;
    this.#checkByItself(head, path.length);
    const byAnchor = this.#firstOf(this.#anchors, new CertificateProblem("UnknownIssuer"), (anchor) => {
      if (!head.issuer.equals(anchor.subject)) throw new CertificateProblem("UnknownIssuer");
      this.#checkSignatures(path, anchor);
      this.#checkNameConstraints(path, anchor);
    });
    if (byAnchor === undefined) return;
    const problem = this.#firstOf(this.#intermediates, byAnchor, (der) => {
      const issuer = readCertificate(der);
      const known = path.some(
        (other) => other.publicKey.equals(issuer.publicKey) && other.subject.equals(issuer.subject),
      );
      if (known || !issuer.subject.equals(head.issuer)) throw new CertificateProblem("UnknownIssuer");
      this.#steps += 1;
      if (this.#steps > MOST_STEPS) throw new CertificateProblem("MaximumPathBuildCallsExceeded");
      if (path.length > MOST_INTERMEDIATES) throw new CertificateProblem("MaximumPathDepthExceeded");
      this.extend([issuer, ...path]);
    });
    if (problem !== undefined) throw problem;
  }

  /** Tries the candidates in order; undefined when one succeeds, else the problem with the highest rank. */
  #firstOf<T>(
    candidates: readonly T[],
    known: CertificateProblem,
    attempt: (candidate: T) => void,
  ): CertificateProblem | undefined {
    let problem = known;
    for (const candidate of candidates) {
      try {
        attempt(candidate);
        return undefined;
      } catch (error) {
        if (!(error instanceof CertificateProblem) || error.final) throw error;
        if (error.rank > problem.rank) problem = error;
      }
    }
    return problem;
  }

  /** @param place 1 for the leaf, 2 for its issuer and so on */
  #checkByItself({ validity, extensions }: Certificate, place: number): void {
    const { from, to } = validity();
    if (from > to) throw new CertificateProblem("InvalidCertValidity");
    if (this.#at < from) throw new CertificateProblem("CertNotValidYet");
    if (this.#at > to) throw new CertificateProblem("CertExpired");
    const { authority, pathLength } = readBasicConstraints(extensions.basicConstraints);
    if (place === 1 && authority) throw new CertificateProblem("CaUsedAsEndEntity");
    if (place > 1 && !authority) throw new CertificateProblem("EndEntityUsedAsCa");
    if (place > 1 && place - 2 > pathLength) throw new CertificateProblem("PathLenConstraintViolated");
    if (extensions.extendedKeyUsage?.length === 0) throw new CertificateProblem("EmptyEkuExtension");
    if (place > 1 && extensions.keyUsage !== undefined && !signsCertificates(extensions.keyUsage))
      throw new CertificateProblem("IssuerNotCertSigner");
  }

  #checkSignatures(path: readonly Certificate[], anchor: Certificate): void {
    let { publicKey } = anchor;
    for (const certificate of path) {
      this.#signatures += 1;
      if (this.#signatures > MOST_SIGNATURES) throw new CertificateProblem("MaximumSignatureChecksExceeded");
      checkSignature(certificate, publicKey);
      publicKey = certificate.publicKey;
    }
  }

  /** The name constraints of each certificate hold for all certificates below it. */
  #checkNameConstraints(path: readonly Certificate[], anchor: Certificate): void {
    const count = (): void => {
      this.#comparisons += 1;
      if (this.#comparisons > MOST_COMPARISONS)
        throw new CertificateProblem("MaximumNameConstraintComparisonsExceeded");
    };
    for (const [index, { extensions }] of [anchor, ...path].entries()) {
      if (extensions.nameConstraints === undefined) continue;
      for (const below of path.slice(index))
        checkNames(extensions.nameConstraints, below.extensions.subjectAltName, count);
    }
  }
}

/** Whether a certificate is one of an authority, and how many authorities may follow it; absent: it is not. */
export function readBasicConstraints(value: Buffer | undefined): { authority: boolean; pathLength: number } {
  return readAll(value ?? Buffer.alloc(0), (reader) => ({
    authority: reader.optionalBoolean(),
    pathLength: reader.atEnd ? Number.POSITIVE_INFINITY : reader.smallInteger(),
  }));
}

/** Whether a key usage permits to sign certificates. */
export function signsCertificates(keyUsage: Buffer): boolean {
  const bits = new DerReader(keyUsage).expect(TAG.bitString);
  return ((bits[1] ?? 0) & (0x80 >> KEY_CERT_SIGN)) !== 0;
}
