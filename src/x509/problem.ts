/** The problems of certificates, by the names of the reference implementation's library (webpki). */

/** The rank of each problem: when several paths fail, the one with the highest is reported. */
const RANKS = {
  CertNotValidYet: 290,
  CertExpired: 290,
  InvalidSignatureForPublicKey: 260,
  SignatureAlgorithmMismatch: 250,
  EmptyEkuExtension: 245,
  NameConstraintViolation: 230,
  PathLenConstraintViolated: 220,
  IssuerNotCertSigner: 215,
  CaUsedAsEndEntity: 210,
  EndEntityUsedAsCa: 210,
  InvalidCertValidity: 190,
  InvalidNetworkMaskConstraint: 180,
  UnsupportedSignatureAlgorithmForPublicKey: 150,
  UnsupportedSignatureAlgorithm: 140,
  UnsupportedCriticalExtension: 130,
  UnsupportedCertVersion: 130,
  MaximumPathDepthExceeded: 61,
  MalformedDnsIdentifier: 60,
  MalformedNameConstraint: 50,
  "TrailingData(SignedData)": 40,
  "TrailingData(Certificate)": 40,
  "TrailingData(CertificateTbsCertificate)": 40,
  "TrailingData(CertificateExtensions)": 40,
  "TrailingData(Extension)": 40,
  "TrailingData(GeneralName)": 40,
  ExtensionValueInvalid: 30,
  BadDerTime: 20,
  BadDer: 10,
  MaximumSignatureChecksExceeded: 0,
  MaximumPathBuildCallsExceeded: 0,
  MaximumNameConstraintComparisonsExceeded: 0,
  UnknownIssuer: 0,
} as const;

/** A problem's name. */
export type ProblemName = keyof typeof RANKS;

/** Problems that end the search, because it has become too expensive. */
const FINAL: ReadonlySet<ProblemName> = new Set([
  "MaximumSignatureChecksExceeded",
  "MaximumPathBuildCallsExceeded",
  "MaximumNameConstraintComparisonsExceeded",
]);

/** Why a certificate can't be read, or can't be trusted. */
export class CertificateProblem extends Error {
  override readonly name = "CertificateProblem";

  constructor(readonly problem: ProblemName) {
    super(problem);
  }

  /** The text for answers (`data/public-text`): a problem's name contains nothing about anyone. */
  get shown(): string {
    return this.message;
  }

  /** The problem's rank. */
  get rank(): number {
    return RANKS[this.problem];
  }

  /** Whether it ends the search. */
  get final(): boolean {
    return FINAL.has(this.problem);
  }
}
