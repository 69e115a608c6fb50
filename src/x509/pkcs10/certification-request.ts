/** What a PKCS#10 certification request says, as Go's crypto/x509 reads it (spec certificate-request-policy.md 1.2). */

/** A part of the subject. */
export interface SubjectAttribute {
  /** Dotted, such as `2.5.4.3`. */
  readonly oid: string;
  /** `undefined` where the value is no text, or one in an encoding that Go does not read as text. */
  readonly value: string | undefined;
}

/** The key that a certificate is asked for. */
export type PublicKey =
  /** Bits of the modulus. */
  | { readonly algorithm: "RSA"; readonly bits: number }
  /** Bits of the curve: 224, 256, 384 or 521. */
  | { readonly algorithm: "ECDSA"; readonly bits: number }
  | { readonly algorithm: "Ed25519" }
  | { readonly algorithm: "DSA" }
  /** An algorithm that Go does not know: the request is read, its key is not. */
  | { readonly algorithm: "unknown" };

/** A name that its type says how to read. */
export interface OtherName {
  /** Dotted. */
  readonly oid: string;
  /** The text of a UTF8String, PrintableString, IA5String or T61String, all of them read as UTF-8; of anything else its DER in lower-case hex. */
  readonly value: string;
}

/** The names of all kinds in the extension subjectAltName beside those that have a list of their own. */
export interface GeneralNames {
  readonly otherNames: readonly OtherName[];
  /** How many there are of each. */
  readonly x400Addresses: number;
  readonly directoryNames: number;
  readonly ediPartyNames: number;
  readonly registeredIds: number;
}

/** A request, read. Lists are in the order of the encoding, with repetitions. */
export interface CertificationRequest {
  /** The attributes of all relative distinguished names, one after the other. */
  readonly subject: readonly SubjectAttribute[];
  readonly publicKey: PublicKey;
  readonly dnsNames: readonly string[];
  /** As Go prints them: dotted, or compressed in lower case. */
  readonly ipAddresses: readonly string[];
  /** As Go prints what it has parsed. */
  readonly uris: readonly string[];
  readonly emailAddresses: readonly string[];
  /** The second, generic look at subjectAltName; `undecodable` says why it failed. Without the extension: no names. */
  readonly generalNames: GeneralNames | { readonly undecodable: string };
}

/** Why a request cannot be read, in Go's words where they are known. */
export class MalformedRequest {
  constructor(readonly message: string) {}
}
