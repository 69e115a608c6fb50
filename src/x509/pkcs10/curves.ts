/** The elliptic curves of NIST that Go knows, all of the form y² = x³ - 3x + b. */

/** One of them. */
export interface Curve {
  /** As Go calls it in errors. */
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

/** By their object identifiers. */
export const CURVES: ReadonlyMap<string, Curve> = new Map([
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

/** Marks a point that is written with both of its coordinates. */
const UNCOMPRESSED = 4;

/** Why octets are no point of a curve in the one form that Go takes; `undefined` when they are. */
export function pointProblem({ name, size, p, b }: Curve, point: Buffer): string | undefined {
  if (point[0] !== UNCOMPRESSED) return "ecdsa: invalid uncompressed public key";
  if (point.length !== 1 + 2 * size) return `invalid ${name} point encoding`;
  const x = BigInt(`0x${point.toString("hex", 1, 1 + size)}`);
  const y = BigInt(`0x${point.toString("hex", 1 + size)}`);
  if (x >= p || y >= p) return `invalid ${name} element encoding`;
  return (y * y - (x * x - 3n) * x - b) % p === 0n ? undefined : `${name} point not on curve`;
}
