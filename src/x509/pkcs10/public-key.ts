/** The key that a certificate is asked for, and the checks that Go makes of it (spec certificate-request-policy.md 1.2). */
import { MalformedRequest, type PublicKey } from "./certification-request.js";
import { CURVES, pointProblem } from "./curves.js";
import { Element, ElementReader, IDENTIFIER, Source } from "./element.js";
import { type Algorithm, bitLength, isInt64, isInteger, isPositive, oidOf, rightAligned } from "./primitives.js";

const RSA = "1.2.840.113549.1.1.1";
const DSA = "1.2.840.10040.4.1";
const ECDSA = "1.2.840.10045.2.1";
const ED25519 = "1.3.101.112";

const ED25519_OCTETS = 32;
const NULL = Buffer.from([5, 0]);

/** Reads a key of an algorithm; `key` is a bit string. */
export function readPublicKey({ oid, parameters }: Algorithm, key: Element): PublicKey | MalformedRequest {
  switch (oid) {
    case RSA:
      return readRsa(parameters, rightAligned(key));
    case ECDSA:
      return readEcdsa(parameters, rightAligned(key));
    case ED25519:
      if (parameters !== undefined) return new MalformedRequest("x509: Ed25519 key encoded with illegal parameters");
      if (key.length - 1 !== ED25519_OCTETS) return new MalformedRequest("x509: wrong Ed25519 public key size");
      return { algorithm: "Ed25519" };
    case DSA:
      return readDsa(parameters, rightAligned(key));
    default:
      return { algorithm: "unknown" };
  }
}

function readRsa(parameters: Element | undefined, key: Buffer): PublicKey | MalformedRequest {
  if (parameters === undefined || !parameters.der.equals(NULL)) {
    return new MalformedRequest("x509: RSA key missing NULL parameters");
  }
  const numbers = new ElementReader(new Source(key)).expect(IDENTIFIER.sequence);
  if (numbers instanceof MalformedRequest) return new MalformedRequest("x509: invalid RSA public key");
  const reader = numbers.inside();
  const modulus = reader.expect(IDENTIFIER.integer);
  if (!(modulus instanceof Element) || !isInteger(modulus)) return new MalformedRequest("x509: invalid RSA modulus");
  const exponent = reader.expect(IDENTIFIER.integer);
  if (!(exponent instanceof Element) || !isInt64(exponent)) {
    return new MalformedRequest("x509: invalid RSA public exponent");
  }
  if (!isPositive(modulus)) return new MalformedRequest("x509: RSA modulus is not a positive number");
  if (!isPositive(exponent)) return new MalformedRequest("x509: RSA public exponent is not a positive number");
  return { algorithm: "RSA", bits: bitLength(modulus) };
}

function readEcdsa(parameters: Element | undefined, key: Buffer): PublicKey | MalformedRequest {
  if (parameters?.identifier !== IDENTIFIER.oid) return new MalformedRequest("x509: invalid ECDSA parameters");
  const oid = oidOf(parameters);
  if (oid instanceof MalformedRequest) return new MalformedRequest("x509: invalid ECDSA parameters");
  const curve = CURVES.get(oid);
  if (curve === undefined) return new MalformedRequest("x509: unsupported elliptic curve");
  const problem = pointProblem(curve, key);
  return problem === undefined ? { algorithm: "ECDSA", bits: curve.bits } : new MalformedRequest(problem);
}

function readDsa(parameters: Element | undefined, key: Buffer): PublicKey | MalformedRequest {
  const y = new ElementReader(new Source(key)).expect(IDENTIFIER.integer);
  if (!(y instanceof Element) || !isInteger(y)) return new MalformedRequest("x509: invalid DSA public key");
  const numbers = [y];
  const reader = parameters?.identifier === IDENTIFIER.sequence ? parameters.inside() : undefined;
  for (let i = 0; i < 3; i++) {
    const number = reader?.expect(IDENTIFIER.integer);
    if (!(number instanceof Element) || !isInteger(number)) return new MalformedRequest("x509: invalid DSA parameters");
    numbers.push(number);
  }
  return numbers.every(isPositive)
    ? { algorithm: "DSA" }
    : new MalformedRequest("x509: zero or negative DSA parameter");
}
