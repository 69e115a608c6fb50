/** Timestamp tokens (RFC 3161) of Notary Project signatures, as tspclient-go verifies them. */
import { createHash } from "node:crypto";
import { type Certificate, readCertificate, readTime } from "../../x509/certificate.js";
import { DerReader, type Element, TAG } from "../../x509/der.js";
import { integerOf, sequenceOf } from "../../x509/fields.js";
import { checkSignature } from "../../x509/signature.js";
import { checkChain, isAmong, isIssued, MAX_CERTIFICATES, must, purposesOf } from "./notation-chain.js";

/** Object identifiers in DER, as hexadecimal. */
const SIGNED_DATA = "2a864886f70d010702";
export const TIMESTAMP_INFO = "2a864886f70d0109100104";
const CONTENT_TYPE = "2a864886f70d010903";
export const MESSAGE_DIGEST = "2a864886f70d010904";
const SIGNING_TIME = "2a864886f70d010905";
const SIGNING_CERTIFICATE = "2a864886f70d010910022f";
const BASELINE_POLICY = "04008f670101";
const TIMESTAMPS_OR_ANY = ["2b06010505070308", "551d2500"];
const SHA256 = "608648016503040201";
/** Hashes, and RSA's signatures with them. */
const HASHES: Readonly<Record<string, readonly [hash: string, rsa: string]>> = {
  [SHA256]: ["sha256", "06092a864886f70d01010b"],
  "608648016503040202": ["sha384", "06092a864886f70d01010c"],
  "608648016503040203": ["sha512", "06092a864886f70d01010d"],
};
const RSA = /^06092a864886f70d010101(0500)?$/;
const CONTEXT_0 = 0xa0;

/** The elements of a value. One that is missing fails where it is used. */
type Parts = readonly [Element, Element, Element, Element, Element, Element, ...Element[]];

/** The elements of a value, which must be there where they are used. */
export function partsOf(content: Buffer): Parts {
  const parts: Element[] = [];
  for (const reader = new DerReader(content); !reader.atEnd; ) parts.push(reader.element());
  return parts as readonly Element[] as Parts;
}

/** A value in hexadecimal. */
export const hex = ({ value }: Element): string => value.toString("hex");

/** @throws FetchError for an algorithm other than SHA-2 */
export function digestOf(algorithm: string, bytes: Buffer): Buffer {
  const [hash] = HASHES[algorithm] ?? [];
  must(hash !== undefined, "its timestamp has a hash other than SHA-256, SHA-384 and SHA-512");
  return createHash(hash).update(bytes).digest();
}

/**
 * Verifies a token about a message.
 * @param trusted certificates of timestamp authorities
 * @returns the chain of its authority, and its earliest and latest time in milliseconds since 1970
 * @throws FetchError with the reason why it does not count; other errors for a token that can't be read
 */
export function verifyTimestamp(der: Buffer, message: Buffer, trusted: readonly Certificate[]) {
  const [kind, wrapped] = partsOf(sequenceOf(der));
  const [version, , encapsulated, ...others] = partsOf(sequenceOf(wrapped.value));
  const [type, inner] = partsOf(encapsulated.value);
  const isRead = hex(kind) === SIGNED_DATA && hex(version) === "03" && hex(type) === TIMESTAMP_INFO;
  must(isRead && others[0]?.tag === CONTEXT_0, "its timestamp has another content, or no certificates");
  const content = partsOf(inner.value)[0].value;
  const listed = partsOf(others[0].value);
  must(listed.length <= MAX_CERTIFICATES, `its timestamp has more than ${MAX_CERTIFICATES} certificates`);
  const certificates = listed.map(({ raw }) => readCertificate(raw));
  const signers = partsOf(others.at(-1)!.value);
  const [signerVersion, sid, { value: hashed }, signed, written, signature] = partsOf(signers[0].value);
  const isSigned = signers.length === 1 && hex(signerVersion) === "01" && signed.tag === CONTEXT_0;
  must(isSigned, "its timestamp does not have one signer with signed attributes");

  const times = timesOf(content, message);
  const attributes = new Map<string, Element>();
  for (const { value } of [...partsOf(signed.value)].reverse()) {
    const [name, values] = partsOf(value);
    attributes.set(hex(name), partsOf(values.value)[0]);
  }
  const {
    [CONTENT_TYPE]: contentType,
    [MESSAGE_DIGEST]: digest,
    [SIGNING_TIME]: time,
  } = Object.fromEntries(attributes);
  const algorithm = hex(partsOf(hashed)[0]);
  const isContent =
    contentType && hex(contentType) === TIMESTAMP_INFO && digest?.value.equals(digestOf(algorithm, content));
  must(isContent, "its timestamp's content is another than the signed one");
  const certificate = signingCertificate(attributes.get(SIGNING_CERTIFICATE), sid, certificates);
  const chain = chainOf(certificate, certificates, trusted);
  try {
    checkAttributes(signed, written, signature, algorithm, certificate);
  } catch {
    must(false, "its timestamp is not made with its certificate's key");
  }
  const signingTimes = time === undefined ? [] : [readTime(new DerReader(time.raw))];
  for (const at of [times.at, ...signingTimes])
    for (const { validity } of chain)
      must(validity().from <= at && at <= validity().to, "its timestamp's certificates were not valid at its time");
  checkChain(chain, "timestamps");
  return { chain, from: times.at - times.accuracy, to: times.at + times.accuracy };
}

/**
 * Checks the signature of a token's attributes.
 * @throws CertificateProblem
 */
export function checkAttributes(
  signed: Element,
  written: Element,
  { value: signature }: Element,
  hash: string,
  { publicKey }: Certificate,
): void {
  const plain = RSA.test(hex(written));
  const signatureAlgorithm = plain ? Buffer.from(HASHES[hash]![1], "hex") : written.value;
  checkSignature(
    { signed: Buffer.concat([Buffer.from([TAG.set]), signed.raw.subarray(1)]), signature, signatureAlgorithm },
    publicKey,
  );
}

/** The time in a token's content, which must be about the message. */
export function timesOf(content: Buffer, message: Buffer): { readonly at: number; readonly accuracy: number } {
  const [version, policy, imprint, , time, ...others] = partsOf(sequenceOf(content));
  const [algorithm, digest] = partsOf(imprint.value);
  must(hex(version) === "01", "its timestamp's content has an unknown version");
  const isAbout = digest.value.equals(digestOf(hex(partsOf(algorithm.value)[0]), message));
  must(isAbout, "its timestamp is about another signature");
  const [, seconds, fraction = ""] = /^(\d{14})(\.\d{1,9})?Z$/.exec(time.value.toString("latin1")) ?? [];
  const whole = readTime(new DerReader(Buffer.from(`\x18\x0f${seconds}Z`, "latin1")));
  const units: Readonly<Record<number, number>> = { [TAG.integer]: 1000, 128: 1, 129: 0.001 };
  const parts = others[0]?.tag === TAG.sequence ? partsOf(others[0].value) : [];
  const sum = parts.reduce((all, { tag, value }) => all + Number(integerOf(value)) * (units[tag] ?? 0), 0);
  const accuracy = sum === 0 && hex(policy) === BASELINE_POLICY ? 1000 : sum;
  return { at: whole + Number(`0${fraction}`) * 1000, accuracy };
}

/** The certificate that the signed attributes name, or the unsigned name where they have its hash only. */
function signingCertificate(
  attribute: Element | undefined,
  sid: Element,
  certificates: readonly Certificate[],
): Certificate {
  must(attribute !== undefined, "its timestamp does not sign which certificate it is made with");
  const id = [...partsOf(partsOf(partsOf(attribute.value)[0].value)[0].value)];
  const hash = id[0]?.tag === TAG.sequence ? hex(partsOf(id.shift()!.value)[0]) : SHA256;
  const [digest, issuerSerial] = id;
  const [names, serial] = partsOf((issuerSerial ?? sid).value);
  const issuer = issuerSerial === undefined ? names.value : sequenceOf(partsOf(names.value)[0].value);
  const found = certificates.find((one) => one.issuer.equals(issuer) && one.serialNumber.equals(serial.value));
  must(
    found && digest?.value.equals(digestOf(hash, found.der)),
    "its timestamp's certificate is missing, or another one",
  );
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
  must(
    !isLimited || leaf.extensions.subjectAltName === undefined,
    "its timestamp's authority is limited to some names",
  );
  const isFor = (purposes: readonly string[]) =>
    purposes.length === 0 || purposes.some((one) => TIMESTAMPS_OR_ANY.includes(one));
  must(chain.map(purposesOf).every(isFor), "its timestamp's authority is not for timestamps");
  return chain;
}
