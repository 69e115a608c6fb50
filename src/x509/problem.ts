/** What is wrong with a certificate, in the words of the reference implementation's library (webpki). */

/** When several paths fail, the problem with the highest rank is told; those without one have the lowest. */
const RANKS: Readonly<Record<string, number>> = {
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
  TrailingData: 40,
  ExtensionValueInvalid: 30,
  BadDerTime: 20,
  BadDer: 10,
};

/** Why a certificate can't be read, or can't be trusted. Its message is the library's name for it. */
export class CertificateProblem extends Error {
  override readonly name = "CertificateProblem";

  /** How much it tells. */
  get rank(): number {
    return RANKS[this.message] ?? 0;
  }

  /** Whether nothing else is to be tried: the search has become too expensive. */
  get final(): boolean {
    return this.message.startsWith("Maximum") && this.message !== "MaximumPathDepthExceeded";
  }
}
