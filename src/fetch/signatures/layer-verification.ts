/** Checks single signatures: the signature itself, the certificate's chain and identity, the log entry. */
import { type KeyObject, verify, X509Certificate } from "node:crypto";
import type { X509Certificate as ParsedCertificate } from "@sigstore/core";
import type { TrustMaterial } from "@sigstore/verify";
import { readCertificate } from "../../x509/certificate.js";
import { checkCertificate, stampedAt, trustOf } from "./certificate-chain.js";
import { checkLogged } from "./log-entry.js";
import type { Claimed, Signature } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

/** Fulcio's extension with the repository of the signing workflow. */
const WORKFLOW_REPOSITORY = "1.3.6.1.4.1.57264.1.5";
/** Fulcio's extensions with the issuer of the identity: the current and the former one. */
const ISSUER = "1.3.6.1.4.1.57264.1.8";
const FORMER_ISSUER = "1.3.6.1.4.1.57264.1.1";
/** The extension with a certificate's key usages, and the usage that signatures need. */
const EXTENDED_KEY_USAGE = "2.5.29.37";
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

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
  if (!signatureFits(layer, key)) return false;
  if (layer.log === undefined) return true;
  const { tlogs } = await trustRoot();
  return isRight(async () => void (await checkLogged(layer, await layer.bundle(), spkiOf(key), tlogs, false)));
}

const spkiOf = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" });

/** The identity in a signature's certificate, not yet verified. */
export interface Claim extends SignerIdentity {
  readonly certificate: X509Certificate;
}

/** The claim of a signature: undefined without a certificate with an identity, with a certificate that is not for signatures, or without a log entry. */
export async function claimOf({ certificate: pem, log }: Claimed): Promise<Claim | undefined> {
  if (pem === undefined || log === undefined) return undefined;
  const { X509Certificate: Parsed } = await import("@sigstore/core");
  try {
    const certificate = new X509Certificate(pem);
    const parsed = Parsed.parse(Buffer.from(certificate.raw));
    const current = parsed.extension(ISSUER);
    const issuer = current === undefined ? parsed.extension(FORMER_ISSUER)?.value : current.valueObj.subs[0]?.value;
    const subject = parsed.subjectAltName;
    if (issuer === undefined || subject === undefined || unfitness(parsed) !== undefined) return undefined;
    const workflowRepository = parsed.extension(WORKFLOW_REPOSITORY)?.value.toString("utf8");
    const identity = { issuer: issuer.toString("ascii"), subject, ...(workflowRepository && { workflowRepository }) };
    return { ...identity, certificate };
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
  if (layer.log === undefined || !signatureFits(layer, certificate.publicKey)) return false;
  return isRight(async () => {
    const bundle = await layer.bundle();
    const { issuers, stamps } = trustOf(trust);
    const logged = await checkLogged(layer, bundle, spkiOf(certificate.publicKey), trust.tlogs, false);
    const times = logged.length === 0 ? stampedAt(layer, bundle, stamps) : logged;
    // A trust root without certificate logs (a private Sigstore) can't ask for proofs from them.
    checkCertificate(
      readCertificate(certificate.raw),
      times,
      issuers,
      trust.ctlogs.length > 0 ? trust.ctlogs : undefined,
    );
  });
}

async function isRight(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
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
export async function certificateProblem(der: Buffer, now: number): Promise<string | undefined> {
  const { X509Certificate: Parsed } = await import("@sigstore/core");
  try {
    const certificate = Parsed.parse(Buffer.from(der));
    if (certificate.notBefore.getTime() > now) return "Certificate validity check failed: it is not valid yet";
    return unfitness(certificate);
  } catch {
    return "the certificate can't be read";
  }
}

/** The reason why a certificate can't sign: it is one of a server or an authority, or names no subject. */
function unfitness(certificate: ParsedCertificate): string | undefined {
  if (certificate.extKeyUsage?.digitalSignature !== true)
    return "the certificate does not have digital signature key usage";
  const uses = certificate.extension(EXTENDED_KEY_USAGE)?.valueObj.subs[0]?.subs ?? [];
  if (!uses.some((use) => use.toOID() === CODE_SIGNING))
    return "the certificate does not have code signing extended key usage";
  return certificate.extSubjectAltName === undefined ? "Certificate without Subject Alternative Name" : undefined;
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
  const { log } = layer;
  if (log === undefined && requireLogEntry) return false;
  const time = log?.time === undefined ? now() : log.time * 1000;
  if (![certificate, ...issuers].every((one) => isValidAt(one, time))) return false;
  return signedWithKey(layer, certificate.publicKey, trustRoot);
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
