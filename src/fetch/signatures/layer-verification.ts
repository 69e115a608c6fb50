/** Checks single signatures: the signature itself, the certificate's chain and identity, the log entry. */
import { type KeyObject, verify, type X509Certificate } from "node:crypto";
import type { TrustMaterial } from "@sigstore/verify";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { DerReader, TAG } from "../../x509/der.js";
import { keyOf } from "../../x509/signature.js";
import { CODE_SIGNING, checkCertificate, isFor, stampedAt, trustOf } from "./certificate-chain.js";
import { checkLogged, derOf } from "./log-entry.js";
import type { Claimed, Signature } from "./signature-layer.js";
import { identityIn } from "./signer-identity.js";
import type { TrustRoot } from "./trust-root.js";

/** The number of Fulcio's extension with the repository of the signing workflow. */
const WORKFLOW_REPOSITORY = 5;
/** Tags of alternative names. */
const [MAIL, URI] = [1, 6];
/** The bit of the key usage. */
const DIGITAL_SIGNATURE = 0x80;

/** The signer named by a certificate. */
export interface SignerIdentity {
  /** The OpenID issuer. */
  readonly issuer: string;
  /** A mail address or a URL. */
  readonly subject: string;
  /** `owner/repo` for workflows of GitHub Actions. */
  readonly workflowRepository?: string;
}

/**
 * Whether a layer is signed with a key. A log entry is optional, but must be valid.
 * @throws FetchError when a log entry must be checked and the trust root is not available
 */
export async function signedWithKey(layer: Signature, key: KeyObject, trustRoot: TrustRoot): Promise<boolean> {
  return (await loggedTimes(layer, key, trustRoot)) !== undefined;
}

/** The times of log entries of a key's signature, in milliseconds since 1970; undefined when the signature or an entry is not right. */
async function loggedTimes(
  layer: Signature,
  key: KeyObject,
  trustRoot: TrustRoot,
): Promise<readonly number[] | undefined> {
  if (!signatureFits(layer, key)) return undefined;
  if (layer.log === undefined) return [];
  const { tlogs } = await trustRoot();
  try {
    return await checkLogged(layer, await layer.bundle(), key.export({ type: "spki", format: "der" }), tlogs, false);
  } catch {
    return undefined;
  }
}

/** The identity in a signature's certificate, not yet verified. */
export interface Claim extends SignerIdentity {
  readonly certificate: Certificate;
}

/** The claim of a signature: undefined without a certificate with an identity, with a certificate that is not for signatures, or without a log entry. */
export function claimOf({ certificate: pem, log }: Claimed): Claim | undefined {
  if (pem === undefined || log === undefined) return undefined;
  try {
    const certificate = readCertificate(derOf(pem));
    const { issuer, names, text } = identityIn(certificate);
    const subject = (names.find(({ tag }) => tag === URI) ?? names.find(({ tag }) => tag === MAIL))?.value.toString();
    if (issuer === undefined || subject === undefined || unfitness(certificate) !== undefined) return undefined;
    const workflowRepository = text(WORKFLOW_REPOSITORY);
    return { issuer, subject, ...(workflowRepository && { workflowRepository }), certificate };
  } catch {
    return undefined;
  }
}

/** Whether the signature's claim is true: certificate, log entries and signature are valid. */
export async function isSignedAsClaimed(
  layer: Signature,
  { certificate }: Claim,
  trust: TrustMaterial,
): Promise<boolean> {
  // It costs a fiftieth of the rest, and most invalid signatures fail here.
  if (layer.log === undefined || !signatureFits(layer, keyOf(certificate))) return false;
  try {
    const bundle = await layer.bundle();
    const { issuers, stamps } = trustOf(trust);
    const logged = await checkLogged(layer, bundle, certificate.publicKey, trust.tlogs, false);
    const times = logged.length === 0 ? stampedAt(layer, bundle, stamps) : logged;
    // A trust root without certificate logs (a private Sigstore) can't ask for proofs from them.
    checkCertificate(certificate, times, issuers, trust.ctlogs.length > 0 ? trust.ctlogs : undefined);
    return true;
  } catch {
    return false;
  }
}

/**
 * The reason why a certificate is not for signatures, in the words of sigstore-rs (spec kubewarden.md 7.4).
 * @param der the certificate
 * @param now milliseconds since 1970
 */
export function certificateProblem(der: Buffer, now: number): string | undefined {
  try {
    const certificate = readCertificate(der, true);
    if (certificate.validity().from > now) return "Certificate validity check failed: it is not valid yet";
    return unfitness(certificate);
  } catch {
    return "the certificate can't be read";
  }
}

/** The reason why a certificate can't sign: it is one of a server or an authority, or names no subject. */
function unfitness(certificate: Certificate): string | undefined {
  const { keyUsage, subjectAltName } = certificate.extensions;
  const [, bits = 0] = keyUsage === undefined ? [] : new DerReader(keyUsage).expect(TAG.bitString);
  if (!(bits & DIGITAL_SIGNATURE)) return "the certificate does not have digital signature key usage";
  if (!isFor(certificate, CODE_SIGNING, true)) return "the certificate does not have code signing extended key usage";
  return subjectAltName === undefined ? "Certificate without Subject Alternative Name" : undefined;
}

/** A required signing certificate. */
export interface TrustedCertificate {
  readonly certificate: X509Certificate;
  /** Intermediates and root; absent: the certificate itself is trusted. */
  readonly chain?: readonly X509Certificate[];
  /** Whether a log entry is required; without one the certificate must be valid now. */
  readonly requireLogEntry: boolean;
}

/**
 * Whether a layer is signed with a certificate that was valid at the time of signing, and its issuers too.
 * @param issuers from {@link issuersOf}
 * @param now milliseconds since 1970
 * @throws FetchError when a log entry must be checked and the trust root is not available
 */
export async function signedWithCertificate(
  layer: Signature,
  { certificate, requireLogEntry }: TrustedCertificate,
  issuers: readonly X509Certificate[],
  trustRoot: TrustRoot,
  now: () => number,
): Promise<boolean> {
  if (layer.log === undefined && requireLogEntry) return false;
  const logged = await loggedTimes(layer, certificate.publicKey, trustRoot);
  const times = logged?.length === 0 ? [now()] : logged;
  return times?.every((time) => [certificate, ...issuers].every((one) => isValidAt(one, time))) ?? false;
}

/** The certificates of a chain that lead from the signing one to the last, the root; undefined when none do. Empty without a chain. */
export function issuersOf({ certificate, chain }: TrustedCertificate): readonly X509Certificate[] | undefined {
  if (chain === undefined) return [];
  const root = chain.at(-1);
  const issuers: X509Certificate[] = [];
  let current = certificate;
  while (issuers.length < chain.length) {
    const issuer = chain.find((candidate) => issued(candidate, current));
    if (issuer?.ca !== true) return undefined;
    issuers.push(issuer);
    if (issuer === root) return issuers;
    current = issuer;
  }
  return undefined;
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer !== certificate && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isValidAt({ validFrom, validTo }: X509Certificate, time: number): boolean {
  return Date.parse(validFrom) <= time && time <= Date.parse(validTo);
}

/** Hashes that cosign 3 uses with larger curves. */
const HASH_OF_CURVE: Readonly<Record<string, string>> = { secp384r1: "sha384", secp521r1: "sha512" };

/**
 * Whether the signature over the payload was made with the key.
 * @param hash the only one that counts; default SHA-256, and in bundles also that of the key's curve
 */
export function signatureFits({ payload, signature, isBundle }: Signature, key: KeyObject, hash?: string): boolean {
  const own = isBundle ? HASH_OF_CURVE[key.asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
  const hashes = hash === undefined ? ["sha256", ...(own === undefined ? [] : [own])] : [hash];
  const algorithms = key.asymmetricKeyType === "ed25519" ? [null] : hashes;
  try {
    return algorithms.some((algorithm) => verify(algorithm, payload, key, signature));
  } catch {
    return false;
  }
}
