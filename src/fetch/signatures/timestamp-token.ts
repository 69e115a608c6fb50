/** Timestamp tokens (RFC 3161): signed content with a time. */
import { createHash } from "node:crypto";
import { type Certificate, readCertificate, readTime } from "../../x509/certificate.js";
import { contextTag, DerReader, type Element, TAG } from "../../x509/der.js";
import { integerOf } from "../../x509/fields.js";
import { checkSignature } from "../../x509/signature.js";
import { artifactError } from "../artifacts.js";

/** Object identifiers in DER, as hexadecimal: the content types of tokens, attributes, a policy. */
const SIGNED_DATA = "06092a864886f70d010702";
const TIMESTAMP_INFO = "060b2a864886f70d0109100104";
const CONTENT_TYPE = "06092a864886f70d010903";
const MESSAGE_DIGEST = "06092a864886f70d010904";
const BASELINE_POLICY = "060604008f670101";
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
/** Most certificates in a token. */
export const MAX_CERTIFICATES = 10;

/** @throws FetchError with the reason, in words for answers */
export function must(condition: unknown, reason: string): asserts condition {
  if (!condition) throw artifactError(reason);
}

/** An element that may be missing. */
export type MaybeElement = Element | undefined;

/** The elements of a value. */
export function elementsOf(content: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (const reader = new DerReader(content); !reader.atEnd; ) elements.push(reader.element());
  return elements;
}

/** Reads a value to its end, also what is not used of it. */
function mustBeWhole(content: Buffer): void {
  for (const { tag, value } of elementsOf(content)) if ((tag & CONSTRUCTED) !== 0) mustBeWhole(value);
}

/** The content of an element, which must have this tag. */
export function contentOf(element: MaybeElement, tag: number): Buffer {
  must(element?.tag === tag, "its timestamp can't be read: a part is missing");
  return element.value;
}

/** The elements of an element, which must have this tag. */
export const partsOf = (element: MaybeElement, tag: number = TAG.sequence): readonly MaybeElement[] =>
  elementsOf(contentOf(element, tag));

/** An element in hexadecimal. */
export const hex = (element: MaybeElement): string => element?.raw.toString("hex") ?? "";

/** @param algorithm of SHA-2; absent: SHA-256 */
export function digestOf(algorithm: MaybeElement, bytes: Buffer): Buffer {
  const [hash] = HASHES[algorithm === undefined ? SHA256 : hex(partsOf(algorithm)[0])] ?? [];
  must(hash !== undefined, "its timestamp has a hash other than SHA-256, SHA-384 and SHA-512");
  return createHash(hash).update(bytes).digest();
}

/** A token whose signature is still to be checked. */
export type TimestampToken = ReturnType<typeof readToken>;

/**
 * Reads a token about a message.
 * @returns its time and the most that it may be wrong, in milliseconds; the name of its signer's certificate beside what is signed (issuer and serial
 *   number); the first value of each signed attribute, by its object identifier in DER as hexadecimal
 * @throws FetchError with the reason why it does not count; CertificateProblem for one that can't be read
 */
export function readToken(der: Buffer, message: Buffer) {
  mustBeWhole(der);
  const [kind, wrapped] = partsOf(elementsOf(der)[0]);
  const [version, hashes, encapsulated, ...others] = partsOf(partsOf(wrapped, CONTEXT_0)[0]);
  const [type, inner] = partsOf(encapsulated);
  const isKnown = hex(kind) === SIGNED_DATA && hex(version) === THREE && hex(type) === TIMESTAMP_INFO;
  must(isKnown, "its timestamp has another content");
  const content = contentOf(partsOf(inner, CONTEXT_0)[0], TAG.octetString);
  const listed = others[0]?.tag === CONTEXT_0 ? elementsOf(others[0].value) : [];
  must(listed.length <= MAX_CERTIFICATES, `its timestamp has more than ${MAX_CERTIFICATES} certificates`);
  const [one, ...surplus] = partsOf(others.at(-1), TAG.set);
  must(one !== undefined && surplus.length === 0, "its timestamp does not have one signer");
  const [signerVersion, signer, hash, signed, algorithm, signature] = partsOf(one);
  must(hex(signerVersion) === ONE, "its timestamp's signer has an unknown version");
  const isListed = partsOf(hashes, TAG.set).some((listedHash) => hex(partsOf(listedHash)[0]) === hex(partsOf(hash)[0]));
  must(isListed, "its timestamp's hash is not among those that it lists");

  const attributes = new Map<string, MaybeElement>();
  for (const attribute of partsOf(signed, CONTEXT_0)) {
    const [name, values] = partsOf(attribute);
    must(!attributes.has(hex(name)), "its timestamp has an attribute twice");
    attributes.set(hex(name), partsOf(values, TAG.set)[0]);
  }
  const isContent = contentOf(attributes.get(MESSAGE_DIGEST), TAG.octetString).equals(digestOf(hash, content));
  const isSigned = isContent && hex(attributes.get(CONTENT_TYPE)) === TIMESTAMP_INFO;
  must(isSigned, "its timestamp's content is not the signed one");
  const written = contentOf(algorithm, TAG.sequence);
  const rsa = PLAIN_RSA.test(written.toString("hex")) ? HASHES[hex(partsOf(hash)[0])]?.[1] : undefined;
  const made = {
    signed: Buffer.concat([Buffer.from([TAG.set]), signed!.raw.subarray(1)]),
    signature: contentOf(signature, TAG.octetString),
    signatureAlgorithm: rsa === undefined ? written : Buffer.from(rsa, "hex"),
  };
  return {
    ...timeOf(content, message),
    certificates: listed.map(({ raw }) => readCertificate(raw)),
    signer,
    attributes: attributes as ReadonlyMap<string, MaybeElement>,
    isSignedBy: ({ publicKey }: Certificate): boolean => isSignedWith(made, publicKey),
  };
}

/** Whether a certificate or a token is signed with a key. */
export function isSignedWith(signed: Parameters<typeof checkSignature>[0], publicKey: Buffer): boolean {
  try {
    checkSignature(signed, publicKey);
    return true;
  } catch {
    return false;
  }
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
