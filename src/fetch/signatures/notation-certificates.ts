/** Certificates and timestamps of Notary Project signatures, by the rules of notation-core-go and tspclient-go. */
import { type Certificate, readCertificate, readTime } from "../../x509/certificate.js";
import { contextTag, DerReader, TAG } from "../../x509/der.js";
import { extensionsOf, nameParts } from "../../x509/fields.js";
import { keyOf } from "../../x509/signature.js";
import { readBasicConstraints } from "../../x509/trust.js";
import {
  contentOf,
  digestOf,
  elementsOf,
  isSignedWith,
  MAX_CERTIFICATES,
  must,
  partsOf,
  readToken,
  type TimestampToken,
} from "./timestamp-token.js";

/** Most certificates of an attestor. */
export const MAX_TRUSTED_CERTIFICATES = 100;
const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

/** Extensions: key usage, lists of revoked certificates, extended key usage, access to the authority. */
const [USAGE, CRL, PURPOSES, ACCESS] = ["2.5.29.15", "2.5.29.31", "2.5.29.37", "1.3.6.1.5.5.7.1.1"];
/** Bits of the key usage: digital signature; all but that and the commitment; certificates. */
const [SIGNS, OTHER_USES, SIGNS_CERTIFICATES] = [0x80, 0x3f, 0x04];

/** Object identifiers in DER, as hexadecimal: attributes of timestamps. */
const SIGNING_TIME = "06092a864886f70d010905";
const SIGNING_CERTIFICATE = "060b2a864886f70d010910022f";
const OCSP = Buffer.from("06082b06010505073001", "hex");
/** Extended key usages: servers, clients, mail, timestamps, OCSP; any. */
const [SERVER, CLIENT, MAIL, STAMPS, RESPONDER] = ["01", "02", "04", "08", "09"].map((id) => `2b060105050703${id}`);
const NOT_SIGNATURES: readonly unknown[] = [SERVER, CLIENT, MAIL, STAMPS, RESPONDER];
const ANY_PURPOSE = "551d2500";

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

/** The last part of a certificate's name, for reasons. */
export const nameOf = ({ subject }: Certificate) => JSON.stringify(nameParts(subject).at(-1)?.value.slice(0, 100));

/** A certificate's key, and the only algorithm for its signatures; keys of other kinds and sizes don't count. */
export function signingKey(certificate: Certificate) {
  const key = keyOf(certificate);
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const size = key.asymmetricKeyType === "rsa" ? Math.ceil(modulusLength / 8) * 8 : 0;
  const rsa = { 2048: "PS256", 3072: "PS384", 4096: "PS512" }[size];
  const algorithm = rsa ?? { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" }[namedCurve];
  must(algorithm !== undefined, "its certificate has a key of an unknown kind or size");
  return { key, algorithm };
}

/** Whether a certificate names its issuer, and is signed by it. */
export const isIssued = (certificate: Certificate, issuer: Certificate): boolean =>
  certificate.issuer.equals(issuer.subject) && isSignedWith(certificate, issuer.publicKey);

const extensionOf = ({ extensionList }: Certificate, id: string | undefined) =>
  extensionsOf(extensionList).find((one) => one.id.join(".") === id);

/** Whether a certificate is for timestamps, and for nothing else. */
export const isStamper = (certificate: Certificate): boolean =>
  purposesOf(certificate).join() === STAMPS && extensionOf(certificate, PURPOSES)?.critical === true;

/** The extended key usages, in DER as hexadecimal. */
export const purposesOf = ({ extensions: { extendedKeyUsage } }: Certificate): readonly string[] =>
  elementsOf(extendedKeyUsage ?? Buffer.alloc(0)).map(({ value }) => value.toString("hex"));

/**
 * Checks a chain: the signer first, its issuers in their order, the root last.
 * @throws FetchError with the first rule that it breaks; other errors for a certificate that can't be read
 */
export function checkChain(chain: readonly Certificate[], purpose: "signatures" | "timestamps"): void {
  for (const [index, one] of chain.entries()) {
    const name = `the certificate ${nameOf(one)}`;
    const issuer = chain[index + 1];
    must(issuer === undefined || !isIssued(one, one), `${name} is self-signed, and not the chain's last`);
    const signer = issuer === undefined ? "by itself, and is the chain's last" : "by the next one of the chain";
    must(isIssued(one, issuer ?? one), `${name} is not signed ${signer}, with SHA-256 or more`);
    const { authority, pathLength } = readBasicConstraints(one.extensions.basicConstraints);
    const usage = extensionOf(one, USAGE);
    must(usage?.critical, `${name} has no key usage that is critical`);
    const [, bits = 0, more = 0] = new DerReader(usage.value).expect(TAG.bitString);
    if (index > 0) {
      must(authority, `${name} is not one of an authority`);
      must(pathLength >= index - 1, `${name} permits no chain of this length`);
      must(bits & SIGNS_CERTIFICATES, `${name} is not for signing certificates`);
    } else {
      must(!authority, `${name} is one of an authority, and makes ${purpose}`);
      must(bits & SIGNS && !(bits & OTHER_USES) && more === 0, `${name} is not for digital signatures only`);
      const isSigner = !purposesOf(one).some((id) => NOT_SIGNATURES.includes(id));
      must(purpose === "signatures" ? isSigner : isStamper(one), `${name} has extended key usages not for ${purpose}`);
      signingKey(one);
    }
  }
}

/**
 * Refuses certificates that may have been revoked: lists and OCSP responders are not asked. A root can't be revoked.
 * @throws FetchError with what to do
 */
export function mustNotBeRevocable(chain: readonly Certificate[]): void {
  for (const one of chain.slice(0, -1)) {
    const isRevocable = extensionOf(one, CRL) !== undefined || extensionOf(one, ACCESS)?.value.includes(OCSP);
    const todo = "and none is asked: sign with certificates without them";
    must(!isRevocable, `the certificate ${nameOf(one)} names revocation lists or OCSP responders, ${todo}`);
  }
}

/**
 * Verifies a timestamp token about a message.
 * @param trusted certificates of timestamp authorities
 * @returns its earliest and latest time, in milliseconds since 1970
 * @throws FetchError with the reason why it does not count; other errors for a token that can't be read
 */
export function verifyTimestamp(der: Buffer, message: Buffer, trusted: readonly Certificate[]) {
  const token = readToken(der, message);
  const { time, accuracy, attributes } = token;
  const certificate = signingCertificate(token);
  must(token.isSignedBy(certificate), "its timestamp is not made with its certificate's key");
  const chain = chainOf(certificate, token.certificates, trusted);
  const signing = attributes.get(SIGNING_TIME);
  for (const at of signing === undefined ? [time] : [time, readTime(new DerReader(signing.raw))])
    for (const { validity } of chain)
      must(validity().from <= at && at <= validity().to, "its timestamp's certificates were not valid at its time");
  checkChain(chain, "timestamps");
  mustNotBeRevocable(chain);
  return { from: time - accuracy, to: time + accuracy };
}

/** The certificate that the signed attributes name, or the unsigned name where they have its hash only. */
function signingCertificate({ attributes, signer, certificates }: TimestampToken): Certificate {
  const attribute = attributes.get(SIGNING_CERTIFICATE);
  must(attribute !== undefined, "its timestamp does not sign which certificate it is made with");
  const id = [...partsOf(partsOf(partsOf(attribute)[0])[0])];
  const hash = id[0]?.tag === TAG.sequence ? id.shift() : undefined;
  const [digest, issuerSerial] = id;
  const [names, number] = partsOf(issuerSerial ?? signer);
  const name = issuerSerial === undefined ? names : partsOf(partsOf(names)[0], contextTag(4, true))[0];
  const [issuer, serial] = [contentOf(name, TAG.sequence), contentOf(number, TAG.integer)];
  const found = certificates.find((one) => one.issuer.equals(issuer) && one.serialNumber.equals(serial));
  const isFound = found && contentOf(digest, TAG.octetString).equals(digestOf(hash, found.der));
  must(isFound, "its timestamp's certificate is missing, or another one");
  return found;
}

/** The chain to the first trusted certificate. */
function chainOf(leaf: Certificate, certificates: readonly Certificate[], trusted: readonly Certificate[]) {
  const chain = [leaf];
  for (let last = leaf; !isAmong(last, trusted); chain.push(last)) {
    const issuer = [...trusted, ...certificates].find((one) => !isAmong(one, chain) && isIssued(last, one));
    must(issuer !== undefined && chain.length < MAX_CERTIFICATES, "its timestamp's authority is not in tsaCerts");
    last = issuer;
  }
  const isLimited = chain.some(({ extensions }) => extensions.nameConstraints !== undefined);
  must(!isLimited || leaf.extensions.subjectAltName === undefined, "its timestamp's authority is limited to names");
  const isFor = (ids: readonly unknown[]) => ids.length === 0 || ids.includes(STAMPS) || ids.includes(ANY_PURPOSE);
  must(chain.map(purposesOf).every(isFor), "its timestamp's authority is not for timestamps");
  return chain;
}
