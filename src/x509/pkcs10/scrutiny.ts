/**
 * Checks of a certification request that neither Go nor cert-manager makes, for entries that ask for them (spec certificate-request-policy.md 1.2). Both
 * functions take a request that was read without a problem.
 */
import type { Certificate } from "../certificate.js";
import { firstPemBlock } from "../pem.js";
import { CertificateProblem } from "../problem.js";
import { checkSignature } from "../signature.js";
import { Element, ElementReader, IDENTIFIER, Source, TAG_NUMBER } from "./element.js";
import { readExtensions, SUBJECT_ALT_NAME } from "./extensions.js";

/** Numbers of the names that have a list of their own, and that the first reading recognises by their whole tag: mail, DNS, URI, address. */
const LISTED: ReadonlySet<number> = new Set([1, 2, 6, 7]);
const CONTEXT = 0x80;
const ATTRIBUTES = 0xa0;

/**
 * Whether subjectAltName has an entry with the number of a listed kind of name, but another class or form than names of that kind. Such an entry
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

/** Whether the request is signed with its own key, by an algorithm that is not outdated. */
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
  // A number of bits that is not a multiple of eight is not a signature of any known algorithm.
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
