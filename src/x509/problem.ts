/** What can be wrong with a certificate, by the names of the reference implementation's library (webpki). */

/** How much each problem tells: when several paths fail, the one with the highest number is reported. */
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

/** Those behind which nothing else is tried: the search has become too expensive. */
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

  /** For answers too (`data/public-text`): a problem's name says nothing of anybody. */
  get shown(): string {
    return this.message;
  }

  /** How much it tells. */
  get rank(): number {
    return RANKS[this.problem];
  }

  /** Whether nothing else is to be tried. */
  get final(): boolean {
    return FINAL.has(this.problem);
  }
}
