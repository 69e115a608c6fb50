/** The content of a PKCS#10 certification request, as Go's crypto/x509 parses it (spec certificate-request-policy.md 1.2). */

/** A part of the subject. */
export interface SubjectAttribute {
  /** Dotted, such as `2.5.4.3`. */
  readonly oid: string;
  /** `undefined` where the value is not a text, or is in an encoding that Go does not parse as text. */
  readonly value: string | undefined;
}

/** The public key for which a certificate is requested. */
export type PublicKey =
  /** Bits of the modulus. */
  | { readonly algorithm: "RSA"; readonly bits: number }
  /** Bits of the curve: 224, 256, 384 or 521. */
  | { readonly algorithm: "ECDSA"; readonly bits: number }
  | { readonly algorithm: "Ed25519" }
  | { readonly algorithm: "DSA" }
  /** An algorithm that Go does not know: the request is parsed, its key is not. */
  | { readonly algorithm: "unknown" };

/** An otherName: a value with the OID of its type. */
export interface OtherName {
  /** Dotted decimal. */
  readonly oid: string;
  /** The text of a UTF8String, PrintableString, IA5String or T61String, all of them read as UTF-8; for other types the value's DER in lower-case hex. */
  readonly value: string;
}

/** The names of subjectAltName whose types have no list of their own in `CertificationRequest`. */
export interface GeneralNames {
  readonly otherNames: readonly OtherName[];
  /** The number of names of each type. */
  readonly x400Addresses: number;
  readonly directoryNames: number;
  readonly ediPartyNames: number;
  readonly registeredIds: number;
}

/** A parsed request. Lists are in the order of the encoding, with repetitions. */
export interface CertificationRequest {
  /** The attributes of all relative distinguished names, one after the other. */
  readonly subject: readonly SubjectAttribute[];
  readonly publicKey: PublicKey;
  readonly dnsNames: readonly string[];
  /** As Go prints them: IPv4 dotted, IPv6 compressed in lower case. */
  readonly ipAddresses: readonly string[];
  /** As Go prints what it has parsed. */
  readonly uris: readonly string[];
  readonly emailAddresses: readonly string[];
  /** The second, generic parse of subjectAltName; `undecodable` is the reason of a failure. Without the extension: no names. */
  readonly generalNames: GeneralNames | { readonly undecodable: string };
}

/** The reason why a request cannot be parsed, in Go's words where they are known. */
export class MalformedRequest {
  constructor(readonly message: string) {}
}
