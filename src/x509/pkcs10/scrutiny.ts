/**
 * What neither Go nor cert-manager looks at in a certification request, for those who want it looked at (spec certificate-request-policy.md 1.2). Both
 * take a request that was read without a problem.
 */
import type { Certificate } from "../certificate.js";
import { firstPemBlock } from "../pem.js";
import { CertificateProblem } from "../problem.js";
import { checkSignature } from "../signature.js";
import { Element, ElementReader, IDENTIFIER, Source, TAG_NUMBER } from "./element.js";
import { readExtensions, SUBJECT_ALT_NAME } from "./extensions.js";

/** Numbers of the names that have a list of their own, and that the first look knows by their whole tag: mail, DNS, URI, address. */
const LISTED: ReadonlySet<number> = new Set([1, 2, 6, 7]);
const CONTEXT = 0x80;
const ATTRIBUTES = 0xa0;

/**
 * Whether subjectAltName has an entry with the number of a listed kind of name, but another class or form than names of that kind have. Such an entry
 * is in no list, and yet a signer copies it.
 */
export function hasOddNames(pem: Buffer): boolean {
  const parts = partsOf(pem);
  const extensions = parts && readExtensions(parts.attributes.inside());
  const value = extensions instanceof Map ? extensions.get(SUBJECT_ALT_NAME) : undefined;
  if (value === undefined) return false;
  const names = elementsOf(value.inside().next());
  return names.some(({ identifier }) => {
    const number = identifier & TAG_NUMBER;
    return LISTED.has(number) && identifier !== (CONTEXT | number);
  });
}

/** Whether who holds the request's key has signed it, with an algorithm that is not outdated. */
export function isSignedByOwnKey(pem: Buffer): boolean {
  const parts = partsOf(pem);
  if (parts === undefined) return false;
  const { signed, signatureAlgorithm, signature, publicKey } = parts;
  try {
    checkSignature({ signed, signatureAlgorithm, signature }, publicKey);
    return true;
  } catch (error) {
    if (error instanceof CertificateProblem) return false;
    throw error;
  }
}

interface Parts extends Pick<Certificate, "signed" | "signatureAlgorithm" | "signature"> {
  readonly publicKey: Buffer;
  readonly attributes: Element;
}

function partsOf(pem: Buffer): Parts | undefined {
  const block = firstPemBlock(pem);
  const [info, algorithm, bits] = block ? elementsOf(new ElementReader(new Source(block.content)).next()) : [];
  const attributes = info && elementsOf(info).find(({ identifier }) => identifier === ATTRIBUTES);
  const key = info && elementsOf(info)[2];
  // Bits that are no whole octets are no signature of any algorithm that is known.
  if (!info || !algorithm || !key || !attributes || bits?.identifier !== IDENTIFIER.bitString || bits.content[0] !== 0)
    return undefined;
  return {
    signed: info.der,
    signatureAlgorithm: algorithm.content,
    signature: bits.content.subarray(1),
    publicKey: key.der,
    attributes,
  };
}

function elementsOf(parent: unknown): readonly Element[] {
  if (!(parent instanceof Element)) return [];
  const elements: Element[] = [];
  for (const reader = parent.inside(); !reader.atEnd; ) {
    const element = reader.next();
    if (!(element instanceof Element)) return elements;
    elements.push(element);
  }
  return elements;
}
