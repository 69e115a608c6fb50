/**
 * PKCS#10 certification requests, accepted and refused as by cert-manager's DecodeX509CertificateRequestBytes, Go's crypto/x509 and cert-manager's second
 * reading of subjectAltName (spec certificate-request-policy.md 1.2). The text is hostile: reading it takes time linear in its length, and nothing is thrown.
 */
import { firstPemBlock } from "../pem.js";
import { readAlternativeNames } from "./alternative-names.js";
import { type CertificationRequest, MalformedRequest } from "./certification-request.js";
import { type Element, ElementReader, IDENTIFIER, onlyElement, Source } from "./element.js";
import { areElements, readExtensions, SUBJECT_ALT_NAME } from "./extensions.js";
import { NO_NAMES, readGeneralNames } from "./general-names.js";
import { algorithmOf, bitStringOf, isInt64 } from "./primitives.js";
import { readPublicKey } from "./public-key.js";
import { readNames } from "./subject.js";

export type {
  CertificationRequest,
  GeneralNames,
  OtherName,
  PublicKey,
  SubjectAttribute,
} from "./certification-request.js";
export { hasOddNames, isSignedByOwnKey } from "./scrutiny.js";
export { MalformedRequest };

/** Most octets of PEM, cert-manager's limit. */
export const LARGEST_REQUEST = 36_500;

/** The attributes: [0], constructed. */
const ATTRIBUTES = 0xa0;

/** Reads the first block of a text, whatever its label. */
export function readCertificationRequest(pem: Buffer): CertificationRequest | MalformedRequest {
  const problem = (text: string) => new MalformedRequest(`error decoding certificate request PEM block: ${text}`);
  if (pem.length > LARGEST_REQUEST) return problem(`provided PEM data was larger than the maximum ${LARGEST_REQUEST}B`);
  const block = firstPemBlock(pem);
  return block === undefined ? problem("no PEM data was found in given input") : readRequest(block.content);
}

/** Reads a request's DER, as Go's x509.ParseCertificateRequest does. */
export function readRequest(der: Buffer): CertificationRequest | MalformedRequest {
  const request = onlyElement(new ElementReader(new Source(der)), IDENTIFIER.sequence);
  if (request instanceof MalformedRequest) return request;
  const outer = request.inside();
  const info = outer.expect(IDENTIFIER.sequence);
  if (info instanceof MalformedRequest) return info;
  const parts = readInfo(info);
  if (parts instanceof MalformedRequest) return parts;
  const algorithm = algorithmOf(outer.expect(IDENTIFIER.sequence));
  if (algorithm instanceof MalformedRequest) return algorithm;
  const signature = bitStringOf(outer.expect(IDENTIFIER.bitString));
  return signature instanceof MalformedRequest ? signature : readParts(parts);
}

/** The parts of the signed content. */
interface Parts {
  readonly subject: Element;
  readonly key: Element;
  readonly attributes: Element;
}

function readInfo(info: Element): Parts | MalformedRequest {
  const reader = info.inside();
  const version = reader.expect(IDENTIFIER.integer);
  if (version instanceof MalformedRequest) return version;
  if (!isInt64(version))
    return new MalformedRequest("asn1: structure error: integer not minimally-encoded or too large");
  const subject = reader.next();
  if (subject instanceof MalformedRequest) return subject;
  const key = reader.expect(IDENTIFIER.sequence);
  if (key instanceof MalformedRequest) return key;
  const attributes = reader.expect(ATTRIBUTES);
  if (attributes instanceof MalformedRequest) return attributes;
  return areElements(attributes.inside())
    ? { subject, key, attributes }
    : new MalformedRequest("asn1: syntax error: truncated sequence");
}

function readParts(parts: Parts): CertificationRequest | MalformedRequest {
  const keyParts = parts.key.inside();
  const algorithm = algorithmOf(keyParts.expect(IDENTIFIER.sequence));
  if (algorithm instanceof MalformedRequest) return algorithm;
  const bits = bitStringOf(keyParts.expect(IDENTIFIER.bitString));
  if (bits instanceof MalformedRequest) return bits;
  const publicKey = readPublicKey(algorithm, bits);
  if (publicKey instanceof MalformedRequest) return publicKey;
  if (parts.subject.identifier !== IDENTIFIER.sequence) {
    return new MalformedRequest("asn1: structure error: the subject is not a sequence");
  }
  const subject = readNames(parts.subject.inside());
  if (subject instanceof MalformedRequest) return subject;
  const extensions = readExtensions(parts.attributes.inside());
  if (extensions instanceof MalformedRequest) return extensions;
  const extension = extensions.get(SUBJECT_ALT_NAME);
  if (extension === undefined) {
    return { subject, publicKey, dnsNames: [], ipAddresses: [], uris: [], emailAddresses: [], generalNames: NO_NAMES };
  }
  const names = readAlternativeNames(extension);
  if (names instanceof MalformedRequest) return names;
  const { dnsNames, ipAddresses, uris, emailAddresses } = names;
  const generalNames = readGeneralNames(extension);
  return { subject, publicKey, dnsNames, ipAddresses, uris, emailAddresses, generalNames };
}
