/** Chains of certificates to trusted authorities, proofs of certificate logs (RFC 6962), and signed timestamps (RFC 3161). */
import { X509Certificate } from "node:crypto";
import type { X509Certificate as ParsedCertificate } from "@sigstore/core";
import type { TrustMaterial } from "@sigstore/verify";
import { issued, isValidAt } from "./layer-verification.js";

type Core = typeof import("@sigstore/core");

/** Usages of certificates: for signatures, and for timestamps. */
export const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
/** Most certificates between one and its root, as in Kyverno. */
const MAX_INTERMEDIATES = 10;

/** A certificate with its members as Sigstore's library reads them. */
export interface Read {
  readonly certificate: X509Certificate;
  readonly parsed: ParsedCertificate;
}

/** A certificate authority, or a timestamp authority. */
export interface Authority {
  readonly roots: readonly Read[];
  readonly intermediates: readonly Read[];
  /** The certificate that signs timestamps, where they need not carry it. */
  readonly leaf?: Read;
  /** The time of its trust, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Reads a certificate in PEM or DER. */
export function readCertificate({ X509Certificate: Parsed }: Core, text: string | Buffer): Read {
  const certificate = new X509Certificate(text);
  return { certificate, parsed: Parsed.parse(Buffer.from(certificate.raw)) };
}

const FOREVER = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** An authority of given certificates, trusted at any time. */
export const authorityOf = (roots: readonly Read[], intermediates: readonly Read[], leaf?: Read): Authority => ({
  roots,
  intermediates,
  ...(leaf && { leaf }),
  ...FOREVER,
});

/** The authorities of a trust root: each chain ends with the root; that of a timestamp authority begins with the signing certificate. */
export function authoritiesIn(list: TrustMaterial["certificateAuthorities"], hasLeaf: boolean): readonly Authority[] {
  return list.map(({ certChain, validFor }) => {
    const chain = certChain.map((parsed) => ({ certificate: new X509Certificate(parsed.root.toDER()), parsed }));
    const leaf = hasLeaf && chain.length > 1 ? chain[0] : undefined;
    return {
      roots: chain.slice(-1),
      intermediates: chain.slice(leaf === undefined ? 0 : 1, -1),
      ...(leaf && { leaf }),
      from: validFor.start.getTime(),
      to: validFor.end.getTime(),
    };
  });
}

/** Which certificate has issued which: authorities are kept, and checked once. */
const known = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  const issuers = known.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  const isIssuer = issuers.get(issuer) ?? issued(issuer, certificate);
  known.set(certificate, issuers.set(issuer, isIssuer));
  return isIssuer;
}

const allows = ({ certificate: { keyUsage } }: Read, use: string): boolean =>
  keyUsage === undefined || keyUsage.includes(use) || keyUsage.includes("2.5.29.37.0");

/**
 * The issuer of a certificate, with a chain to a root of the authority that is valid at a time.
 * @param time milliseconds since 1970
 * @param below the number of certificates between this one and the first
 */
export function issuerAt(
  { certificate }: Read,
  authority: Authority,
  use: string,
  time: number,
  below = 0,
  tried = new Set<Read>(),
): Read | undefined {
  const { roots, intermediates, from, to } = authority;
  if (time < from || time > to || below > MAX_INTERMEDIATES) return undefined;
  for (const issuer of [...roots, ...intermediates]) {
    if (tried.has(issuer) || !issuer.certificate.ca || !allows(issuer, use)) continue;
    const most = issuer.parsed.extBasicConstraints?.pathLenConstraint;
    if (most !== undefined && most < below) continue;
    if (!isValidAt(issuer.certificate, time) || !hasIssued(issuer.certificate, certificate)) continue;
    if (roots.includes(issuer)) return issuer;
    tried.add(issuer);
    if (issuerAt(issuer, authority, use, time, below + 1, tried) !== undefined) return issuer;
  }
  return undefined;
}

/** Whether a trusted certificate log has signed that it knows a certificate. */
export function isProven(core: Core, { parsed }: Read, issuer: Read, logs: TrustMaterial["ctlogs"]): boolean {
  const proofs = parsed.extSCT?.signedCertificateTimestamps ?? [];
  const body = parsed.clone();
  const at = body.extensions.findIndex((one) => one.subs[0]?.toOID() === core.EXTENSION_OID_SCT);
  // Logs sign the certificate without their proofs.
  body.extensions.splice(at, 1);
  const signed = body.tbsCertificate.toDER();
  const entry = new core.ByteStream();
  entry.appendView(core.crypto.digest("sha256", issuer.parsed.publicKey));
  entry.appendUint24(signed.length);
  entry.appendView(signed);
  return proofs.some((proof) =>
    logs.some(
      ({ logID, publicKey, validFor: { start, end } }) =>
        logID.equals(proof.logID) &&
        start <= proof.datetime &&
        proof.datetime <= end &&
        proof.verify(entry.buffer, publicKey),
    ),
  );
}

/** The time of a signed timestamp about a signature, in milliseconds since 1970; undefined when no authority has signed it. */
export function timeOf(
  core: Core,
  der: Uint8Array,
  signature: Buffer,
  authorities: readonly Authority[],
): number | undefined {
  try {
    const timestamp = core.RFC3161Timestamp.parse(Buffer.from(der));
    const time = timestamp.signingTime;
    const isSigner = ({ parsed }: Read) =>
      parsed.serialNumber.equals(timestamp.signerSerialNumber) && parsed.issuer.equals(timestamp.signerIssuer);
    for (const authority of authorities) {
      const leaf = authority.leaf ?? carried(core, timestamp.root).find(isSigner);
      if (leaf?.certificate.keyUsage?.includes(TIME_STAMPING) !== true || !isSigner(leaf)) continue;
      if (!isValidAt(leaf.certificate, time.getTime())) continue;
      if (issuerAt(leaf, authority, TIME_STAMPING, time.getTime()) === undefined) continue;
      timestamp.verify(signature, leaf.certificate.publicKey);
      return time.getTime();
    }
  } catch {
    // It can't be read, or is not about this signature.
  }
  return undefined;
}

/** The certificates that a timestamp carries. */
function carried(core: Core, root: InstanceType<Core["RFC3161Timestamp"]>["root"]): readonly Read[] {
  const signed = root.subs[1]?.subs[1]?.subs[0]?.subs ?? [];
  const list = signed.find(({ tag }) => tag.isContextSpecific(0))?.subs ?? [];
  return list.slice(0, MAX_INTERMEDIATES).map((one) => readCertificate(core, one.toDER()));
}
