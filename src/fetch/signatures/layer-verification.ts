/** Checks single signatures: the signature itself, the certificate's chain and identity, the log entry. */
import { createHash, createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import type { Signer, TrustMaterial } from "@sigstore/verify";
import { hasEscapedKeys, parsePlainJson } from "../../data/json.js";
import type { LogBundle, SignatureLayer } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

/** Fulcio's extension with the repository of the workflow that signed. */
const WORKFLOW_REPOSITORY = "1.3.6.1.4.1.57264.1.5";

/** Who signed, as the certificate says. */
export interface SignerIdentity {
  /** The OpenID issuer. */
  readonly issuer: string;
  /** A mail address or a URL. */
  readonly subject: string;
  /** `owner/repo` for workflows of GitHub Actions. */
  readonly workflowRepository?: string;
}

/** Reads a public key in PEM; undefined when it is none. */
export function readPublicKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
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
  return (await verifiedSigner(layer, layer.bundle, material, keyed)) !== undefined;
}

/**
 * The identity that signed, when certificate, signature and log entry are right; undefined otherwise.
 * @throws FetchError when the trust root can't be had
 */
export async function signerIdentity(layer: SignatureLayer, trustRoot: TrustRoot): Promise<SignerIdentity | undefined> {
  const der = layer.certificate === undefined ? undefined : certificateBytes(layer.certificate);
  if (der === undefined || layer.bundle === undefined) return undefined;
  const material = { x509CertificateChain: { certificates: [{ rawBytes: der.toString("base64") }] } };
  const identity = (await verifiedSigner(layer, layer.bundle, material, await trustRoot()))?.identity;
  const issuer = identity?.extensions?.issuer;
  const subject = identity?.subjectAlternativeName;
  if (issuer === undefined || subject === undefined) return undefined;
  const extension = identity?.oids?.find(({ oid }) => oid?.id.join(".") === WORKFLOW_REPOSITORY);
  return { issuer, subject, ...(extension && { workflowRepository: extension.value.toString("utf8") }) };
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
 * Whether a layer is signed with a certificate that was valid at the time of signing, and its chain too.
 * @param now milliseconds since 1970
 * @throws FetchError when a log entry must be checked and the trust root can't be had
 */
export async function signedWithCertificate(
  layer: SignatureLayer,
  { certificate, chain, requireLogEntry }: TrustedCertificate,
  trustRoot: TrustRoot,
  now: () => number,
): Promise<boolean> {
  const { bundle } = layer;
  if (bundle === undefined && requireLogEntry) return false;
  const time = bundle === undefined ? now() : bundle.Payload.integratedTime * 1000;
  if (!isValidAt(certificate, time) || (chain !== undefined && !leadsToRoot(certificate, chain, time))) return false;
  return signedWithKey(layer, certificate.publicKey, trustRoot);
}

/** Whether issuers from the chain lead from a certificate to the chain's last, the root. */
function leadsToRoot(certificate: X509Certificate, chain: readonly X509Certificate[], time: number): boolean {
  const root = chain.at(-1);
  let current = certificate;
  for (let steps = 0; steps < chain.length; steps++) {
    const issuer = chain.find((candidate) => issued(candidate, current));
    if (issuer === undefined || !issuer.ca || !isValidAt(issuer, time)) return false;
    if (issuer === root) return true;
    current = issuer;
  }
  return false;
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
async function verifiedSigner(
  layer: SignatureLayer,
  bundle: LogBundle,
  material: object,
  trust: TrustMaterial,
): Promise<Signer | undefined> {
  const { bundleFromJSON } = await import("@sigstore/bundle");
  const { toSignedEntity, Verifier } = await import("@sigstore/verify");
  try {
    const entity = toSignedEntity(bundleFromJSON(bundleJson(layer, bundle, material)), layer.payload);
    // A trust root without certificate logs (a private Sigstore) can't ask for proofs from them.
    return new Verifier(trust, { ctlogThreshold: trust.ctlogs.length > 0 ? 1 : 0 }).verify(entity);
  } catch {
    return undefined;
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

function certificateBytes(pem: string): Buffer | undefined {
  try {
    return new X509Certificate(pem).raw;
  } catch {
    return undefined;
  }
}
