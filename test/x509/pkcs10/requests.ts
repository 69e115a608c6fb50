/** Certification requests made piece by piece, sound or not. */

/** An element: tag and length in front of what it is made of. */
export function der(identifier: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([identifier, ...lengthOctets(content.length)]), content]);
}

/** A length in its shortest form. */
export function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 0x100)) octets.unshift(left % 0x100);
  return [0x80 | octets.length, ...octets];
}

export const SEQUENCE = 0x30;
export const SET = 0x31;

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(6, Buffer.from([40 * first + second, ...rest].flatMap(base128)));
}

function base128(number: number): readonly number[] {
  const octets = [number % 0x80];
  for (let left = Math.floor(number / 0x80); left > 0; left = Math.floor(left / 0x80))
    octets.unshift(0x80 | (left % 0x80));
  return octets;
}

/** A bit string of whole octets. */
export const bits = (content: Uint8Array): Buffer => der(3, Buffer.from([0]), content);

const P256_POINT = `04${"6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}${"4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"}`;

/** A key on P-256. */
export const EC_KEY = der(
  SEQUENCE,
  der(SEQUENCE, oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7")),
  bits(Buffer.from(P256_POINT, "hex")),
);

/** What a request is made of; what is left out is sound and says nothing. */
export interface RequestParts {
  readonly version?: Uint8Array;
  /** Sets of attributes. */
  readonly names?: readonly Uint8Array[];
  /** The whole of the subject, in place of `names`. */
  readonly subject?: Uint8Array;
  readonly key?: Uint8Array;
  /** Elements of the attributes' set. */
  readonly attributes?: readonly Uint8Array[];
  /** General names of a subjectAltName, in place of `attributes`. */
  readonly alternatives?: readonly Uint8Array[];
  readonly algorithm?: Uint8Array;
  readonly signature?: Uint8Array;
}

const ALGORITHM = der(SEQUENCE, oid("1.2.840.10045.4.3.2"));

/** The DER of a request. */
export function request(parts: RequestParts): Buffer {
  const attributes =
    parts.attributes ?? (parts.alternatives ? [extensionRequest(alternativeNames(...parts.alternatives))] : []);
  const info = der(
    SEQUENCE,
    parts.version ?? der(2, Buffer.from([0])),
    parts.subject ?? der(SEQUENCE, ...(parts.names ?? [])),
    parts.key ?? EC_KEY,
    der(0xa0, ...attributes),
  );
  return der(SEQUENCE, info, parts.algorithm ?? ALGORITHM, parts.signature ?? bits(Buffer.from([1])));
}

/** The attribute that requests extensions. */
export const extensionRequest = (...extensions: readonly Uint8Array[]): Buffer =>
  der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET, der(SEQUENCE, ...extensions)));

export const extension = (id: string, value: Uint8Array): Buffer => der(SEQUENCE, oid(id), der(4, value));

export const alternativeNames = (...names: readonly Uint8Array[]): Buffer =>
  extension("2.5.29.17", der(SEQUENCE, ...names));

/** A set of one attribute. */
export const attribute = (id: string, value: Uint8Array): Buffer => der(SET, der(SEQUENCE, oid(id), value));

/** A block of PEM. */
export function pem(content: Buffer, label = "CERTIFICATE REQUEST"): Buffer {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return Buffer.from(`-----BEGIN ${label}-----\n${lines.map((line) => `${line}\n`).join("")}-----END ${label}-----\n`);
}
