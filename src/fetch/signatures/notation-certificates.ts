/** Certificates and timestamps (RFC 3161) of Notary Project signatures, by the rules of notation-core-go and tspclient-go. */
import { createHash, createPublicKey } from "node:crypto";
import { type Certificate, readCertificate, readTime } from "../../x509/certificate.js";
import { contextTag, DerReader, type Element, TAG } from "../../x509/der.js";
import { extensionsOf, integerOf, nameParts } from "../../x509/fields.js";
import { checkSignature } from "../../x509/signature.js";
import { readBasicConstraints } from "../../x509/trust.js";
import { artifactError } from "../artifacts.js";

/** Most certificates of a signature or a timestamp. */
export const MAX_CERTIFICATES = 10;
/** Most certificates of an attestor. */
export const MAX_TRUSTED_CERTIFICATES = 100;
const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

/** Extensions: key usage, lists of revoked certificates, extended key usage, access to the authority. */
const [USAGE, CRL, PURPOSES, ACCESS] = ["2.5.29.15", "2.5.29.31", "2.5.29.37", "1.3.6.1.5.5.7.1.1"];
/** Bits of the key usage: digital signature; all but that and the commitment; certificates. */
const [SIGNS, OTHER_USES, SIGNS_CERTIFICATES] = [0x80, 0x3f, 0x04];

/** Object identifiers in DER, as hexadecimal: the content type of tokens, that of their content, attributes, a policy. */
const SIGNED_DATA = "06092a864886f70d010702";
const TIMESTAMP_INFO = "060b2a864886f70d0109100104";
const CONTENT_TYPE = "06092a864886f70d010903";
const MESSAGE_DIGEST = "06092a864886f70d010904";
const SIGNING_TIME = "06092a864886f70d010905";
const SIGNING_CERTIFICATE = "060b2a864886f70d010910022f";
const BASELINE_POLICY = "060604008f670101";
const OCSP = Buffer.from("06082b06010505073001", "hex");
/** Extended key usages: servers, clients, mail, timestamps, OCSP; any. */
const [SERVER, CLIENT, MAIL, STAMPS, RESPONDER] = ["01", "02", "04", "08", "09"].map((id) => `06082b060105050703${id}`);
const NOT_SIGNATURES: readonly unknown[] = [SERVER, CLIENT, MAIL, STAMPS, RESPONDER];
const ANY_PURPOSE = "0604551d2500";
/** Hashes, and RSA's signatures with them. */
const SHA256 = "0609608648016503040201";
const HASHES: Readonly<Record<string, readonly [hash: string, rsa: string]>> = {
  [SHA256]: ["sha256", "06092a864886f70d01010b"],
  "0609608648016503040202": ["sha384", "06092a864886f70d01010c"],
  "0609608648016503040203": ["sha512", "06092a864886f70d01010d"],
};
const PLAIN_RSA = /^06092a864886f70d010101(0500)?$/;
const [ONE, THREE] = ["020101", "020103"];
const CONTEXT_0 = contextTag(0, true);
const CONSTRUCTED = 0x20;
/** Milliseconds of an accuracy's parts, by their tags. */
const UNITS: Readonly<Record<number, number>> = { [TAG.integer]: 1000, 128: 1, 129: 0.001 };

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

/** The last part of a certificate's name, for reasons. */
export const nameOf = ({ subject }: Certificate) => JSON.stringify(nameParts(subject).at(-1)?.value.slice(0, 100));

/** A certificate's key, and the only algorithm for its signatures; keys of other kinds and sizes don't count. */
export function signingKey({ publicKey }: Certificate) {
  const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const size = key.asymmetricKeyType === "rsa" ? Math.ceil(modulusLength / 8) * 8 : 0;
  const rsa = { 2048: "PS256", 3072: "PS384", 4096: "PS512" }[size];
  const algorithm = rsa ?? { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" }[namedCurve];
  must(algorithm !== undefined, "its certificate has a key of an unknown kind or size");
  return { key, algorithm };
}

function isIssued(certificate: Certificate, issuer: Certificate): boolean {
  if (!certificate.issuer.equals(issuer.subject)) return false;
  try {
    checkSignature(certificate, issuer.publicKey);
    return true;
  } catch {
    return false;
  }
}

const extensionOf = ({ extensionList }: Certificate, id: string | undefined) =>
  extensionsOf(extensionList).find((one) => one.id.join(".") === id);

const purposesOf = ({ extensions: { extendedKeyUsage } }: Certificate): readonly string[] =>
  elementsOf(extendedKeyUsage ?? Buffer.alloc(0)).map(hex);

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
      const purposes = purposesOf(one);
      const isSigner = !purposes.some((id) => NOT_SIGNATURES.includes(id));
      const isStamper = purposes.join() === STAMPS && extensionOf(one, PURPOSES)?.critical;
      must(purpose === "signatures" ? isSigner : isStamper, `${name} has extended key usages not for ${purpose}`);
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

type MaybeElement = Element | undefined;

function elementsOf(content: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (const reader = new DerReader(content); !reader.atEnd; ) elements.push(reader.element());
  return elements;
}

/** Reads a value to its end, also what is not used of it. */
function mustBeWhole(content: Buffer): void {
  for (const { tag, value } of elementsOf(content)) if ((tag & CONSTRUCTED) !== 0) mustBeWhole(value);
}

function contentOf(element: MaybeElement, tag: number): Buffer {
  must(element?.tag === tag, "its timestamp can't be read: a part is missing");
  return element.value;
}

const partsOf = (element: MaybeElement, tag: number = TAG.sequence): readonly MaybeElement[] =>
  elementsOf(contentOf(element, tag));

const hex = (element: MaybeElement): string => element?.raw.toString("hex") ?? "";

function digestOf(algorithm: MaybeElement, bytes: Buffer): Buffer {
  const [hash] = HASHES[algorithm === undefined ? SHA256 : hex(partsOf(algorithm)[0])] ?? [];
  must(hash !== undefined, "its timestamp has a hash other than SHA-256, SHA-384 and SHA-512");
  return createHash(hash).update(bytes).digest();
}

/**
 * Verifies a timestamp token about a message.
 * @param trusted certificates of timestamp authorities
 * @returns its earliest and latest time, in milliseconds since 1970
 * @throws FetchError with the reason why it does not count; other errors for a token that can't be read
 */
export function verifyTimestamp(der: Buffer, message: Buffer, trusted: readonly Certificate[]) {
  mustBeWhole(der);
  const [kind, wrapped] = partsOf(elementsOf(der)[0]);
  const [version, , encapsulated, listed, ...others] = partsOf(partsOf(wrapped, CONTEXT_0)[0]);
  const [type, inner] = partsOf(encapsulated);
  const isKnown = hex(kind) === SIGNED_DATA && hex(version) === THREE && hex(type) === TIMESTAMP_INFO;
  must(isKnown, "its timestamp has another content");
  const content = contentOf(partsOf(inner, CONTEXT_0)[0], TAG.octetString);
  const certificates = partsOf(listed, CONTEXT_0).map((one) => readCertificate(one!.raw));
  must(certificates.length <= MAX_CERTIFICATES, `its timestamp has more than ${MAX_CERTIFICATES} certificates`);
  const [signer, ...surplus] = partsOf(others.at(-1), TAG.set);
  must(signer !== undefined && surplus.length === 0, "its timestamp does not have one signer");
  const [signerVersion, sid, hash, signed, algorithm, signature] = partsOf(signer);
  must(hex(signerVersion) === ONE, "its timestamp's signer has an unknown version");

  const { time, accuracy } = timeOf(content, message);
  const attributes = new Map<string, MaybeElement>();
  for (const attribute of partsOf(signed, CONTEXT_0)) {
    const [name, values] = partsOf(attribute);
    must(!attributes.has(hex(name)), "its timestamp has an attribute twice");
    attributes.set(hex(name), partsOf(values, TAG.set)[0]);
  }
  const isContent = contentOf(attributes.get(MESSAGE_DIGEST), TAG.octetString).equals(digestOf(hash, content));
  const isSigned = isContent && hex(attributes.get(CONTENT_TYPE)) === TIMESTAMP_INFO;
  must(isSigned, "its timestamp's content is not the signed one");
  const certificate = signingCertificate(attributes.get(SIGNING_CERTIFICATE), sid, certificates);
  const written = contentOf(algorithm, TAG.sequence);
  const rsa = PLAIN_RSA.test(written.toString("hex")) ? HASHES[hex(partsOf(hash)[0])]?.[1] : undefined;
  const signatureAlgorithm = rsa === undefined ? written : Buffer.from(rsa, "hex");
  const attributeSet = Buffer.concat([Buffer.from([TAG.set]), signed!.raw.subarray(1)]);
  const made = { signed: attributeSet, signature: contentOf(signature, TAG.octetString), signatureAlgorithm };
  try {
    checkSignature(made, certificate.publicKey);
  } catch {
    must(false, "its timestamp is not made with its certificate's key");
  }
  const chain = chainOf(certificate, certificates, trusted);
  const signing = attributes.get(SIGNING_TIME);
  for (const at of signing === undefined ? [time] : [time, readTime(new DerReader(signing.raw))])
    for (const { validity } of chain)
      must(validity().from <= at && at <= validity().to, "its timestamp's certificates were not valid at its time");
  checkChain(chain, "timestamps");
  mustNotBeRevocable(chain);
  return { from: time - accuracy, to: time + accuracy };
}

/** The time in a token's content, which must be about the message. */
function timeOf(content: Buffer, message: Buffer): { readonly time: number; readonly accuracy: number } {
  const [version, policy, imprint, , time, accuracy] = partsOf(elementsOf(content)[0]);
  const [hash, digest] = partsOf(imprint);
  must(hex(version) === ONE, "its timestamp's content has an unknown version");
  const isAbout = contentOf(digest, TAG.octetString).equals(digestOf(hash, message));
  must(isAbout, "its timestamp is about another signature");
  const text = contentOf(time, TAG.generalizedTime).toString("latin1");
  const [, seconds, fraction = ""] = /^(\d{14})(\.\d{1,9})?Z$/.exec(text) ?? [];
  const whole = readTime(new DerReader(Buffer.from(`\x18\x0f${seconds}Z`, "latin1")));
  let sum = 0;
  for (const part of accuracy?.tag === TAG.sequence ? elementsOf(accuracy.value) : [])
    sum += Number(integerOf(part.value)) * (UNITS[part.tag] ?? 0);
  const least = sum === 0 && hex(policy) === BASELINE_POLICY ? 1000 : sum;
  return { time: whole + Number(`0${fraction}`) * 1000, accuracy: least };
}

/** The certificate that the signed attributes name, or the unsigned name where they have its hash only. */
function signingCertificate(attribute: MaybeElement, sid: MaybeElement, certificates: readonly Certificate[]) {
  must(attribute !== undefined, "its timestamp does not sign which certificate it is made with");
  const id = [...partsOf(partsOf(partsOf(attribute)[0])[0])];
  const hash = id[0]?.tag === TAG.sequence ? id.shift() : undefined;
  const [digest, issuerSerial] = id;
  const [names, number] = partsOf(issuerSerial ?? sid);
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
