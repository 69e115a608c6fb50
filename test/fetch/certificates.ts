/** Makes X.509 certificates for tests: an own CA, servers, and signers with Fulcio's extensions. Just enough DER for that. */
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A key pair on P-256. */
export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** A certificate with its key. */
export interface Certificate extends Keys {
  readonly der: Buffer;
  readonly pem: string;
  readonly keyPem: string;
  readonly name: string;
}

/** What a certificate says. */
export interface CertificateOptions {
  readonly name: string;
  /** Signs itself when absent. */
  readonly issuer?: Certificate;
  readonly authority?: boolean;
  readonly hosts?: readonly string[];
  readonly email?: string;
  readonly uri?: string;
  /** Object identifier to DER value. */
  readonly extensions?: Readonly<Record<string, Buffer>>;
  /** Further extensions, which may be repeated. */
  readonly more?: readonly (readonly [id: string, value: Buffer, critical?: boolean])[];
  /** Bits of the key usage; default by `authority`. */
  readonly usage?: readonly number[];
  readonly keys?: Keys;
  readonly codeSigning?: boolean;
  /** Makes the value of the extension with proofs of certificate logs from the body without it. */
  readonly proof?: (body: Buffer) => Buffer;
  readonly from?: Date;
  readonly until?: Date;
}

/** A new key pair. */
export function newKeys(): Keys {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** A new certificate; it lives from yesterday to tomorrow unless said otherwise. */
export function newCertificate(options: CertificateOptions): Certificate {
  const { keys = newKeys() } = options;
  const day = 86_400_000;
  const { name, issuer, from = new Date(Date.now() - day), until = new Date(Date.now() + day) } = options;
  const serial = integer(Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const bodyWith = (extensions: readonly Buffer[]) =>
    sequence(
      tagged(0, integer(Buffer.from([2]))),
      serial,
      ECDSA_SHA256,
      distinguishedName(issuer?.name ?? name),
      sequence(time(from), time(until)),
      distinguishedName(name),
      keys.publicKey.export({ type: "spki", format: "der" }),
      tagged(3, sequence(...extensions)),
    );
  const plain = extensionsOf(options);
  const proof = options.proof?.(bodyWith(plain));
  const body = bodyWith(proof === undefined ? plain : [...plain, extension(CT_PROOFS, proof)]);
  const der = sequence(body, ECDSA_SHA256, bits(sign("sha256", body, issuer?.privateKey ?? keys.privateKey)));
  return {
    ...keys,
    name,
    der,
    pem: toPem("CERTIFICATE", der),
    keyPem: createPrivateKey(keys.privateKey.export({ type: "pkcs8", format: "pem" }))
      .export({ type: "pkcs8", format: "pem" })
      .toString(),
  };
}

/** DER in PEM armour. */
export function toPem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** A DER OCTET STRING. */
export function octets(value: Buffer): Buffer {
  return element(0x04, value);
}

/** A DER UTF8String. */
export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

const CT_PROOFS = "1.3.6.1.4.1.11129.2.4.2";
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

function extensionsOf(options: CertificateOptions) {
  const { authority = false, hosts = [], email, uri, extensions = {}, codeSigning, more = [] } = options;
  const usage = options.usage ?? (authority ? [1, 0x06] : [7, 0x80]);
  const names = [
    ...hosts.map((host) =>
      /^[\d.]+$/.test(host)
        ? element(0x87, Buffer.from(host.split(".").map(Number)))
        : element(0x82, Buffer.from(host)),
    ),
    ...(email === undefined ? [] : [element(0x81, Buffer.from(email))]),
    ...(uri === undefined ? [] : [element(0x86, Buffer.from(uri))]),
  ];
  return [
    extension("2.5.29.19", sequence(...(authority ? [element(0x01, Buffer.from([0xff]))] : [])), true),
    extension("2.5.29.15", element(0x03, Buffer.from(usage)), true),
    ...(codeSigning ? [extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.3")))] : []),
    ...(names.length > 0 ? [extension("2.5.29.17", sequence(...names))] : []),
    ...Object.entries(extensions).map(([id, value]) => extension(id, value)),
    ...more.map((one) => extension(...one)),
  ];
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [element(0x01, Buffer.from([0xff]))] : []), element(0x04, value));
}

function distinguishedName(name: string): Buffer {
  return sequence(element(0x31, sequence(oid("2.5.4.3"), utf8(name))));
}

function time(date: Date): Buffer {
  return element(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

function bits(value: Buffer): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([0]), value]));
}

function integer(value: Buffer): Buffer {
  return element(0x02, value);
}

function tagged(tag: number, value: Buffer): Buffer {
  return element(0xa0 + tag, value);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of others) {
    const groups = [part & 0x7f];
    for (let rest = Math.floor(part / 128); rest > 0; rest = Math.floor(rest / 128))
      groups.unshift((rest & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

function element(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
