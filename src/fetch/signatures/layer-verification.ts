/** Checks single signatures: the signature itself, the certificate's chain and identity, the log entry. */
import { createHash, type KeyObject, verify, X509Certificate } from "node:crypto";
import type { X509Certificate as ParsedCertificate } from "@sigstore/core";
import type { TrustMaterial } from "@sigstore/verify";
import { hasEscapedKeys, parsePlainJson } from "../../data/json.js";
import type { ListedSignature, LogBundle, SignatureLayer } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

/** Fulcio's extension with the repository of the workflow that signed. */
const WORKFLOW_REPOSITORY = "1.3.6.1.4.1.57264.1.5";
/** Its extensions with the issuer of the identity: the one in use, and the one before. */
const ISSUER = "1.3.6.1.4.1.57264.1.8";
const FORMER_ISSUER = "1.3.6.1.4.1.57264.1.1";
/** The extension with the uses that a certificate is for, and that of them which signatures need. */
const EXTENDED_KEY_USAGE = "2.5.29.37";
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

/** Who signed, as the certificate says. */
export interface SignerIdentity {
  /** The OpenID issuer. */
  readonly issuer: string;
  /** A mail address or a URL. */
  readonly subject: string;
  /** `owner/repo` for workflows of GitHub Actions. */
  readonly workflowRepository?: string;
}

/**
 * Whether a layer is signed with a key. A log entry isn't needed, but when there is one it must be right.
 * @throws FetchError when a log entry must be checked and the trust root can't be had
 */
export async function signedWithKey(layer: SignatureLayer, key: KeyObject, trustRoot: TrustRoot): Promise<boolean> {
  if (!signatureFits(layer, key)) return false;
  if (layer.bundle === undefined) return true;
  const trusted = await trustRoot();
  const keyed: TrustMaterial = { ...trusted, publicKey: () => ({ publicKey: key, validFor: () => true }) };
  const material = { publicKey: { hint: "configured" } };
  return isVerified(layer, layer.bundle, material, keyed);
}

/** Whom a signature's certificate names, before it is looked at whether any of it is true. */
export interface Claim extends SignerIdentity {
  readonly certificate: X509Certificate;
}

/** What a signature claims: undefined when it has no certificate with an identity, or one that is not for signatures, or no log entry. */
export async function claimOf({ certificate: pem, bundle }: ListedSignature): Promise<Claim | undefined> {
  if (pem === undefined || bundle === undefined) return undefined;
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

/** Whether the signature was made by whom it claims: certificate, log entries and signature are right. */
export async function isSignedAsClaimed(
  layer: SignatureLayer,
  { certificate }: Claim,
  trust: TrustMaterial,
): Promise<boolean> {
  // It costs a fiftieth of the rest, and most signatures that are not right fail here.
  if (layer.bundle === undefined || !signatureFits(layer, certificate.publicKey)) return false;
  const material = { x509CertificateChain: { certificates: [{ rawBytes: certificate.raw.toString("base64") }] } };
  return isVerified(layer, layer.bundle, material, trust);
}

/**
 * Why a certificate is none for signatures, as sigstore-rs says it (spec kubewarden.md 7.4).
 * @param der of the certificate
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

/** Certificates of servers and authorities are not for signatures, and one that names nobody vouches for nobody. */
function unfitness(certificate: ParsedCertificate): string | undefined {
  if (certificate.extKeyUsage?.digitalSignature !== true)
    return "the certificate does not have digital signature key usage";
  const uses = certificate.extension(EXTENDED_KEY_USAGE)?.valueObj.subs[0]?.subs ?? [];
  if (!uses.some((use) => use.toOID() === CODE_SIGNING))
    return "the certificate does not have code signing extended key usage";
  return certificate.extSubjectAltName === undefined ? "Certificate without Subject Alternative Name" : undefined;
}

/** A certificate that must have signed. */
export interface TrustedCertificate {
  readonly certificate: X509Certificate;
  /** Intermediates and root; absent: the certificate is trusted by itself. */
  readonly chain?: readonly X509Certificate[];
  /** A log entry must be there; without one the certificate must be valid now. */
  readonly requireLogEntry: boolean;
}

/**
 * Whether a layer is signed with a certificate that was valid at the time of signing, and its issuers too.
 * @param issuers from {@link issuersOf}
 * @param now milliseconds since 1970
 * @throws FetchError when a log entry must be checked and the trust root can't be had
 */
export async function signedWithCertificate(
  layer: SignatureLayer,
  { certificate, requireLogEntry }: TrustedCertificate,
  issuers: readonly X509Certificate[],
  trustRoot: TrustRoot,
  now: () => number,
): Promise<boolean> {
  const { bundle } = layer;
  if (bundle === undefined && requireLogEntry) return false;
  const time = bundle === undefined ? now() : bundle.Payload.integratedTime * 1000;
  if (![certificate, ...issuers].every((one) => isValidAt(one, time))) return false;
  return signedWithKey(layer, certificate.publicKey, trustRoot);
}

/** Those of a chain that lead from its certificate to its last one, the root; undefined when none do. Without a chain there are none. */
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

/** Whether the signature over the payload was made with the key. */
export function signatureFits({ payload, signature }: SignatureLayer, key: KeyObject): boolean {
  try {
    const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
    return verify(algorithm, payload, key, signature);
  } catch {
    return false;
  }
}

/** Everything that Sigstore's own library checks. */
async function isVerified(
  layer: SignatureLayer,
  bundle: LogBundle,
  material: object,
  trust: TrustMaterial,
): Promise<boolean> {
  const { bundleFromJSON } = await import("@sigstore/bundle");
  const { toSignedEntity, Verifier } = await import("@sigstore/verify");
  try {
    const entity = toSignedEntity(bundleFromJSON(bundleJson(layer, bundle, material)), layer.payload);
    // A trust root without certificate logs (a private Sigstore) can't ask for proofs from them.
    new Verifier(trust, { ctlogThreshold: trust.ctlogs.length > 0 ? 1 : 0 }).verify(entity);
    return true;
  } catch {
    return false;
  }
}

/** Cosign's annotations in the form of a Sigstore bundle. */
function bundleJson(
  { payload, signature }: SignatureLayer,
  { SignedEntryTimestamp, Payload }: LogBundle,
  material: object,
) {
  const body = Buffer.from(Payload.body, "base64").toString("utf8");
  // Sigstore's library reads it again by the built-in parser. Logs write canonical JSON, and its keys are plain words.
  if (hasEscapedKeys(body)) throw new Error("the log entry has keys with escapes");
  const { kind, apiVersion } = parsePlainJson(body) as Record<string, unknown>;
  return {
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      ...material,
      tlogEntries: [
        {
          logIndex: String(Payload.logIndex),
          logId: { keyId: Buffer.from(Payload.logID, "hex").toString("base64") },
          kindVersion: { kind, version: apiVersion },
          integratedTime: String(Payload.integratedTime),
          inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
          canonicalizedBody: Payload.body,
        },
      ],
    },
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest: createHash("sha256").update(payload).digest("base64") },
      signature: signature.toString("base64"),
    },
  };
}
