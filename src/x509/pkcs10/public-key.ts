/** The public key of a request, and Go's checks of it (spec certificate-request-policy.md 1.2). */
import { MalformedRequest, type PublicKey } from "./certification-request.js";
import { Element, ElementReader, IDENTIFIER, Source } from "./element.js";
import { type Algorithm, bitLength, isInt64, isInteger, isPositive, oidOf, rightAligned } from "./primitives.js";

/** An elliptic curve. */
interface Curve {
  /** The name in Go's errors. */
  readonly name: string;
  readonly bits: number;
  /** Octets of a coordinate. */
  readonly size: number;
  readonly p: bigint;
  readonly b: bigint;
}

const curve = (name: string, bits: number, p: bigint, b: string): Curve => ({
  name,
  bits,
  size: Math.ceil(bits / 8),
  p,
  b: BigInt(`0x${b}`),
});

/** The curves by their object identifiers. */
const CURVES: ReadonlyMap<string, Curve> = new Map([
  [
    "1.3.132.0.33",
    curve("P224", 224, 2n ** 224n - 2n ** 96n + 1n, "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4"),
  ],
  [
    "1.2.840.10045.3.1.7",
    curve(
      "P256",
      256,
      2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
    ),
  ],
  [
    "1.3.132.0.34",
    curve(
      "P384",
      384,
      2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
    ),
  ],
  [
    "1.3.132.0.35",
    curve(
      "P521",
      521,
      2n ** 521n - 1n,
      "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
    ),
  ],
]);

/** The first octet of a point that is written with both of its coordinates. */
const UNCOMPRESSED = 4;

/** Why octets are not a point of a curve in the one form that Go accepts; `undefined` when they are. */
function pointProblem({ name, size, p, b }: Curve, point: Buffer): string | undefined {
  if (point[0] !== UNCOMPRESSED) return "ecdsa: invalid uncompressed public key";
  if (point.length !== 1 + 2 * size) return `invalid ${name} point encoding`;
  const x = BigInt(`0x${point.toString("hex", 1, 1 + size)}`);
  const y = BigInt(`0x${point.toString("hex", 1 + size)}`);
  if (x >= p || y >= p) return `invalid ${name} element encoding`;
  return (y * y - (x * x - 3n) * x - b) % p === 0n ? undefined : `${name} point not on curve`;
}

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
