/** Certificates of signers: their authorities, proofs of certificate logs (RFC 6962), and signed timestamps (RFC 3161). */
import { createHash, verify } from "node:crypto";
import type { Bundle } from "@sigstore/bundle";
import type { TrustMaterial } from "@sigstore/verify";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { contextTag, DerReader, TAG } from "../../x509/der.js";
import { element } from "../../x509/issue.js";
import { checkNames, MOST_COMPARISONS } from "../../x509/name-constraints.js";
import { CertificateProblem } from "../../x509/problem.js";
import { readBasicConstraints, signsCertificates } from "../../x509/trust.js";
import { isIssued, isStamper, purposesOf } from "./notation-certificates.js";
import type { Signature } from "./signature-layer.js";
import { SignatureProblem } from "./statement.js";
import { contentOf, elementsOf, partsOf, readToken } from "./timestamp-token.js";

/** Extended key usages in DER as hexadecimal: signatures, timestamps, any. */
export const CODE_SIGNING = "2b06010505070303";
const TIME_STAMPING = "2b06010505070308";
const ANY_PURPOSE = "551d2500";
/** The beginning of the extension with proofs of certificate logs. */
const PROOFS = Buffer.from("060a2b06010401d679020402", "hex");
/** Most timestamps of a signature. */
export const MAX_STAMPS = 8;

/** An authority: the certificates from an issuer to the root. */
export interface Authority {
  readonly chain: readonly Certificate[];
  /** The certificate that signs timestamps, where they need not carry it. */
  readonly leaf?: Certificate;
  readonly validFor?: { readonly start: Date; readonly end: Date };
}

/** A trust root with its authorities. */
export interface Trust {
  readonly material: TrustMaterial;
  readonly issuers: readonly Authority[];
  readonly stamps: readonly Authority[];
}
const trusts = new WeakMap<TrustMaterial, Trust>();

/** The authorities of a trust root, which are read once. */
export function trustOf(material: TrustMaterial): Trust {
  const [issuers, stamps] = [material.certificateAuthorities, material.timestampAuthorities];
  const read = () => ({ material, issuers: authoritiesIn(issuers), stamps: authoritiesIn(stamps) });
  const trust = trusts.get(material) ?? read();
  trusts.set(material, trust);
  return trust;
}

/** The authorities of a trust root; chains that are not signed from one certificate to the next are left out. */
function authoritiesIn(list: TrustMaterial["certificateAuthorities"]): readonly Authority[] {
  return list.flatMap(({ certChain, validFor }) => {
    try {
      return [{ ...authorityOf(certChain.map(({ root }) => readCertificate(root.toDER()))), validFor }];
    } catch {
      return [];
    }
  });
}

/** Certificates in the order of their chain, from the first one to the root. */
export function inOrder(certificates: readonly Certificate[]): readonly Certificate[] {
  const chain = certificates.filter(({ issuer, subject }) => issuer.equals(subject)).slice(0, 1);
  const isNext = (one: Certificate) =>
    chain[0] !== undefined && !chain.includes(one) && one.issuer.equals(chain[0].subject);
  for (let next = certificates.find(isNext); next !== undefined; next = certificates.find(isNext)) chain.unshift(next);
  return chain.length === certificates.length ? chain : [];
}

/**
 * The authority of a chain, which may begin with a certificate that is not one of an authority.
 * @throws an error when the chain is broken
 */
export function authorityOf(certificates: readonly Certificate[]): Authority {
  const isAuthority = ({ extensions }: Certificate) => readBasicConstraints(extensions.basicConstraints).authority;
  const [first] = certificates;
  const leaf = first === undefined || isAuthority(first) ? undefined : first;
  const chain = leaf === undefined ? certificates : certificates.slice(1);
  for (const [below, certificate] of chain.entries()) {
    const { basicConstraints, keyUsage } = certificate.extensions;
    const { authority, pathLength } = readBasicConstraints(basicConstraints);
    const issuer = chain[below + 1];
    if (keyUsage !== undefined && !signsCertificates(keyUsage)) throw new Error("not for certificates");
    if (!authority || pathLength < below || (issuer !== undefined && !isIssued(certificate, issuer)))
      throw new Error("not a chain");
  }
  if (chain.length === 0) throw new Error("no authority");
  return { chain, ...(leaf && { leaf }) };
}

/** Whether a certificate is for a purpose, which some must name. */
export function isFor(certificate: Certificate, purpose: string, isStrict = false): boolean {
  const purposes = purposesOf(certificate);
  return purposes.includes(purpose) || (!isStrict && (purposes.length === 0 || purposes.includes(ANY_PURPOSE)));
}

function isValidAt({ validity }: Certificate, time: number): boolean {
  const { from, to } = validity();
  return from <= time && time <= to;
}

/** The issuer of a certificate, if it and the authorities above it are valid at a time, in milliseconds since 1970. */
function issuerAt(
  certificate: Certificate,
  { chain, validFor }: Authority,
  purpose: string,
  time: number,
): Certificate | undefined {
  if (validFor !== undefined && (time < validFor.start.getTime() || time > validFor.end.getTime())) return undefined;
  const index = chain.findIndex((one) => isIssued(certificate, one));
  const above = chain.slice(Math.max(index, 0));
  const isRight = (one: Certificate) => isFor(one, purpose) && isValidAt(one, time) && mayCertify(one, certificate);
  return above.every(isRight) ? chain[index] : undefined;
}

/** Whether the names in a certificate are among those that an authority may certify. */
function mayCertify({ extensions: { nameConstraints } }: Certificate, { extensions }: Certificate): boolean {
  if (nameConstraints === undefined) return true;
  let comparisons = 0;
  const count = () => {
    if (++comparisons > MOST_COMPARISONS) throw new CertificateProblem("MaximumNameConstraintComparisonsExceeded");
  };
  try {
    checkNames(nameConstraints, extensions.subjectAltName, count, true);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks that a certificate was valid when it was used, and issued by a trusted authority.
 * @param times of its use, in milliseconds since 1970: it must have been valid at each
 * @param authorities absent: any issuer
 * @param logs absent: no proof of a certificate log is needed
 * @throws SignatureProblem
 */
export function checkCertificate(
  certificate: Certificate,
  times: readonly number[],
  authorities: readonly Authority[] | undefined,
  logs: TrustMaterial["ctlogs"] | undefined,
): void {
  if (times.length === 0) throw new SignatureProblem("no trusted log or timestamp tells the time of its signature");
  for (const time of times) {
    if (!isValidAt(certificate, time))
      throw new SignatureProblem("its certificate was not valid at the time of its signature");
    if (authorities === undefined) continue;
    const issuer = authorities.map((one) => issuerAt(certificate, one, CODE_SIGNING, time)).find((one) => one);
    if (issuer === undefined) throw new SignatureProblem("its certificate was not issued by a trusted authority");
    if (logs !== undefined && time === times[0] && !isProven(certificate, issuer, logs))
      throw new SignatureProblem("its certificate has no valid proof of a trusted certificate log (SCT)");
  }
}

/** Whether a trusted certificate log has signed that it knows a certificate. */
function isProven(certificate: Certificate, issuer: Certificate, logs: TrustMaterial["ctlogs"]): boolean {
  const extensions: Buffer[] = [];
  let list: Buffer | undefined;
  for (const reader = new DerReader(certificate.extensionList); !reader.atEnd; ) {
    const { raw, value } = reader.element();
    if (list === undefined && value.subarray(0, PROOFS.length).equals(PROOFS))
      list = new DerReader(new DerReader(value.subarray(PROOFS.length)).expect(TAG.octetString)).expect(
        TAG.octetString,
      );
    else extensions.push(raw);
  }
  if (list === undefined) return false;
  // Logs sign the certificate without their proofs.
  const parts: Buffer[] = [];
  for (const reader = new DerReader(new DerReader(certificate.signed).expect(TAG.sequence)); !reader.atEnd; ) {
    const { tag, raw } = reader.element();
    if (tag !== contextTag(3, true)) parts.push(raw);
  }
  const body = element(TAG.sequence, ...parts, element(contextTag(3, true), element(TAG.sequence, ...extensions)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const entry = [createHash("sha256").update(issuer.publicKey).digest(), length.subarray(1), body];
  for (let at = 2; at < list.length; at += 2 + list.readUInt16BE(at)) {
    // Version, log, time, extensions with their length, algorithms, signature with its length.
    const proof = list.subarray(at + 2, at + 2 + list.readUInt16BE(at));
    const time = new Date(Number(proof.readBigUInt64BE(33)));
    const end = 43 + proof.readUInt16BE(41);
    const signed = [Buffer.alloc(2), proof.subarray(33, 41), Buffer.from([0, 1]), ...entry, proof.subarray(41, end)];
    const isOf = ({ logID, publicKey, validFor: { start, end: until } }: (typeof logs)[number]) =>
      logID.equals(proof.subarray(1, 33)) &&
      start <= time &&
      time <= until &&
      verify("sha256", Buffer.concat(signed), publicKey, proof.subarray(end + 4));
    if (logs.some(isOf)) return true;
  }
  return false;
}

/**
 * The times of a signature's verified timestamps, in milliseconds since 1970; none when it has no timestamp.
 * @throws SignatureProblem when none of them is right
 */
export function stampedAt(
  { signature, envelope }: Signature,
  { verificationMaterial }: Bundle,
  authorities: readonly Authority[],
): readonly number[] {
  const stamps = verificationMaterial.timestampVerificationData?.rfc3161Timestamps ?? [];
  if (stamps.length > MAX_STAMPS) throw new SignatureProblem(`it has more than ${MAX_STAMPS} timestamps`);
  const read = ({ signedTimestamp }: (typeof stamps)[number]) =>
    timeOf(signedTimestamp, envelope ?? signature, authorities);
  const times = stamps.map(read).filter((time) => time !== undefined);
  if (times.length === 0 && stamps.length > 0)
    throw new SignatureProblem("its timestamp is not right, or of no trusted authority");
  return times;
}

/** The time of a signed timestamp about some bytes, in milliseconds since 1970; undefined when no authority has signed it. */
function timeOf(der: Buffer, about: Buffer, authorities: readonly Authority[]): number | undefined {
  try {
    // The answer of an authority: its status, and the token.
    const token = readToken(partsOf(elementsOf(der)[0])[1]?.raw ?? Buffer.alloc(0), about);
    const [issuer, serial] = partsOf(token.signer);
    const isSigner = (one: Certificate) =>
      one.serialNumber.equals(contentOf(serial, TAG.integer)) && one.issuer.equals(contentOf(issuer, TAG.sequence));
    for (const authority of authorities) {
      const leaf = (authority.leaf === undefined ? token.certificates : [authority.leaf]).find(isSigner);
      if (leaf === undefined || !isStamper(leaf) || !isValidAt(leaf, token.time)) continue;
      if (issuerAt(leaf, authority, TIME_STAMPING, token.time) === undefined) continue;
      return token.isSignedBy(leaf) ? token.time : undefined;
    }
  } catch {
    // It can't be read, or is not about these bytes.
  }
  return undefined;
}
