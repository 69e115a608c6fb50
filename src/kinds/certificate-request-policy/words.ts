/** Words of policies and requests, in the order in which messages list them (spec certificate-request-policy.md 1.1 and 2.2). */

/** The usages of a certificate. */
export const USAGES = [
  "signing",
  "digital signature",
  "content commitment",
  "key encipherment",
  "key agreement",
  "data encipherment",
  "cert sign",
  "crl sign",
  "encipher only",
  "decipher only",
  "any",
  "server auth",
  "client auth",
  "code signing",
  "email protection",
  "s/mime",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "timestamping",
  "ocsp signing",
  "microsoft sgc",
  "netscape sgc",
] as const;

/** Algorithms of private keys that a policy may ask for. */
export const ALGORITHMS = ["RSA", "ECDSA", "Ed25519"] as const;

/** Attributes of the subject with a list each, in the order in which a policy is checked. */
export const SUBJECT_LISTS = [
  "organizations",
  "countries",
  "organizationalUnits",
  "localities",
  "provinces",
  "streetAddresses",
  "postalCodes",
] as const;

/** Object identifiers of the subject that have a field of their own (spec certificate-request-policy.md 1.2). */
export const NAMED_ATTRIBUTES: ReadonlySet<string> = new Set([
  "2.5.4.3",
  "2.5.4.5",
  "2.5.4.6",
  "2.5.4.7",
  "2.5.4.8",
  "2.5.4.9",
  "2.5.4.10",
  "2.5.4.11",
  "2.5.4.17",
]);
