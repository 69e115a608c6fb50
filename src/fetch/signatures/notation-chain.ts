/** The rules of the Notary project for chains of certificates, of signers and of timestamp authorities, as notation-core-go has them. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { contextTag, DerReader, readAll, TAG } from "../../x509/der.js";
import { extensionsOf, nameParts } from "../../x509/fields.js";
import { checkSignature } from "../../x509/signature.js";
import { readBasicConstraints } from "../../x509/trust.js";
import { artifactError } from "../artifacts.js";

/** Most certificates of a chain, and of an attestor's text in PEM. */
export const MAX_CERTIFICATES = 10;
export const MAX_TRUSTED_CERTIFICATES = 100;
const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

const KEY_USAGE = "2.5.29.15";
const CRL_POINTS = "2.5.29.31";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const AUTHORITY_ACCESS = "1.3.6.1.5.5.7.1.1";
/** 1.3.6.1.5.5.7.48.1, in DER. */
const OCSP = "2b06010505073001";
/** The beginning of extended key usages, 1.3.6.1.5.5.7.3, in DER, and the last part of those that a code signer must not have. */
const PURPOSE = "2b060105050703";
const NOT_CODE_SIGNING = ["01", "02", "04", "08", "09"].map((part) => PURPOSE + part);
const TIME_STAMPING = `${PURPOSE}08`;
/** Bits of a key's usage: digital signature; all but that and the commitment; certificates. */
const SIGNS = 0x80;
const OTHER_USES = 0x3f;
const SIGNS_CERTIFICATES = 0x04;

/** @throws FetchError with the reason, in words for answers */
export function must(condition: unknown, reason: string): asserts condition {
  if (!condition) throw artifactError(reason);
}

/** The certificates of a text in PEM, which has nothing else. */
export function certificatesOf(pem: string): readonly Certificate[] {
  const blocks = [...pem.matchAll(PEM)];
  must(blocks.length <= MAX_TRUSTED_CERTIFICATES, `there are more than ${MAX_TRUSTED_CERTIFICATES} certificates`);
  must(!pem.replace(PEM, "").includes("-----") && (blocks.length > 0 || pem.trim() === ""), "a block is not PEM");
  return blocks.map(([, body = ""]) => readCertificate(Buffer.from(body, "base64"), true));
}

/** Whether a certificate is among others. */
export const isAmong = ({ der }: Certificate, others: readonly Certificate[]): boolean =>
  others.some((one) => one.der.equals(der));

/** Whether a certificate names its issuer, and is signed by it. */
export function isIssued(certificate: Certificate, issuer: Certificate): boolean {
  if (!certificate.issuer.equals(issuer.subject)) return false;
  try {
    checkSignature(certificate, issuer.publicKey);
    return true;
  } catch {
    return false;
  }
}

/** A certificate's name in reasons. */
export const nameOf = ({ subject }: Certificate): string =>
  JSON.stringify(
    nameParts(subject)
      .map(({ value }) => value)
      .join(", ")
      .slice(0, 100),
  );

/** The algorithm of signatures with a key: keys of other kinds and sizes don't count. */
export function algorithmOf({ publicKey }: Certificate): {
  readonly key: KeyObject;
  readonly name?: string | undefined;
} {
  const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const size = key.asymmetricKeyType === "rsa" ? Math.ceil(modulusLength / 8) * 8 : namedCurve;
  const name = { 2048: "PS256", 3072: "PS384", 4096: "PS512" }[size as number];
  const curve = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" }[size as string];
  return { key, name: name ?? curve };
}

/**
 * Checks a chain: the signer first, its issuers in their order, the root last.
 * @throws FetchError with the first rule that it breaks
 */
export function checkChain(chain: readonly Certificate[], purpose: "signatures" | "timestamps"): void {
  for (const [index, certificate] of chain.entries()) {
    const name = `the certificate ${nameOf(certificate)}`;
    const issuer = chain[index + 1];
    must(
      issuer === undefined || !isIssued(certificate, certificate),
      `${name} is self-signed, and not the chain's last`,
    );
    const signer = issuer === undefined ? "by itself, and is the chain's last" : "by the next one of the chain";
    must(isIssued(certificate, issuer ?? certificate), `${name} is not signed ${signer}, with SHA-256 or more`);
    const { authority, pathLength } = readBasicConstraints(certificate.extensions.basicConstraints);
    const usage = extensionOf(certificate, KEY_USAGE);
    must(usage?.critical, `${name} has no key usage that is critical`);
    const [, bits = 0, more = 0] = new DerReader(usage.value).expect(TAG.bitString);
    if (index > 0) {
      must(authority, `${name} is not one of an authority`);
      must(pathLength >= index - 1, `${name} permits no chain of this length`);
      must(bits & SIGNS_CERTIFICATES, `${name} is not for signing certificates`);
    } else {
      must(!authority, `${name} is one of an authority, and signs ${purpose}`);
      must(bits & SIGNS && !(bits & OTHER_USES) && more === 0, `${name} is not for digital signatures only`);
      const purposes = purposesOf(certificate);
      const fits =
        purpose === "signatures"
          ? !purposes.some((one) => NOT_CODE_SIGNING.includes(one))
          : purposes.join() === TIME_STAMPING && extensionOf(certificate, EXTENDED_KEY_USAGE)?.critical;
      must(fits, `${name} has extended key usages that are not for ${purpose}`);
      must(algorithmOf(certificate).name !== undefined, `${name} has a key of an unknown kind or size`);
    }
  }
}

/** The extended key usages, in DER as hexadecimal. */
export function purposesOf({ extensions }: Certificate): readonly string[] {
  const purposes: string[] = [];
  for (const list = new DerReader(extensions.extendedKeyUsage ?? Buffer.alloc(0)); !list.atEnd; )
    purposes.push(list.expect(TAG.oid).toString("hex"));
  return purposes;
}

const extensionOf = ({ extensionList }: Certificate, id: string) =>
  extensionsOf(extensionList).find((one) => one.id.join(".") === id);

/**
 * Refuses chains with certificates that may have been revoked: their lists and responders are not asked. A root can't be revoked.
 * @throws FetchError with what to do
 */
export function mustNotBeRevocable(chain: readonly Certificate[]): void {
  for (const certificate of chain.slice(0, -1)) {
    const points = extensionOf(certificate, CRL_POINTS);
    const access = extensionOf(certificate, AUTHORITY_ACCESS);
    must(
      !(points !== undefined && namesAddress(points.value)) && !(access !== undefined && namesResponder(access.value)),
      `the certificate ${nameOf(certificate)} names a list of revoked certificates or an OCSP responder, and none is asked: sign with certificates without them`,
    );
  }
}

const ADDRESS = contextTag(6, false);
const CONSTRUCTED = 0x20;

function namesAddress(der: Buffer): boolean {
  for (const reader = new DerReader(der); !reader.atEnd; ) {
    const { tag, value } = reader.element();
    if (tag === ADDRESS || ((tag & CONSTRUCTED) !== 0 && namesAddress(value))) return true;
  }
  return false;
}

function namesResponder(der: Buffer): boolean {
  for (const list = new DerReader(readAll(der, (all) => all.expect(TAG.sequence))); !list.atEnd; ) {
    const access = new DerReader(list.expect(TAG.sequence));
    if (access.expect(TAG.oid).toString("hex") === OCSP && access.peek(ADDRESS)) return true;
  }
  return false;
}
