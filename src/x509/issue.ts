/**
 * Issues certificates for a server of ours (RFC 5280): an authority, and certificates signed by it. Keys on P-256 and ECDSA with SHA-256: every client of
 * webhooks supports them, and making a key takes no time.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { addressOctets } from "../data/go/ip.js";
import { readCertificate } from "./certificate.js";
import { contextTag, TAG } from "./der.js";

// Writes DER, as far as certificates need it: the counterpart of `der.ts`.

/** The length from which on it is encoded in bytes of its own. */
const SHORT_LENGTHS = 0x80;
/** The bit in an octet of an object identifier's number which says that more follow. */
const MORE = 0x80;
/** The first year that is encoded with four digits (RFC 5280, 4.1.2.5). */
const FIRST_GENERALIZED_YEAR = 2050;

/** An element with its tag and length around complete parts. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(value.length)]), value]);
}

/** A sequence of elements. */
const sequence = (...parts: readonly Buffer[]): Buffer => element(TAG.sequence, ...parts);

/** An integer of these octets, the first of which has the sign's bit: two's complement in the fewest octets. */
const integer = (octets: Uint8Array): Buffer => element(TAG.integer, octets);

/** An object identifier, of which the first two numbers share one. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...others].flatMap(sevenBits)));
}

/** A bit string. @param unused number of bits of the last octet that do not count, and must be zero */
export const bitString = (octets: Uint8Array, unused: number = 0): Buffer =>
  element(TAG.bitString, Buffer.from([unused]), octets);

/** A text. */
const utf8String = (text: string): Buffer => element(TAG.utf8String, Buffer.from(text));

/** The boolean true; false is left out. */
const yes = (): Buffer => element(TAG.boolean, Buffer.from([0xff]));

/** A time of whole seconds. @param time milliseconds since 1970 */
export function time(time: number): Buffer {
  const date = new Date(time);
  const digits = `${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return date.getUTCFullYear() < FIRST_GENERALIZED_YEAR
    ? element(TAG.utcTime, Buffer.from(digits.slice(2)))
    : element(TAG.generalizedTime, Buffer.from(digits));
}

function lengthOf(length: number): readonly number[] {
  if (length < SHORT_LENGTHS) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [SHORT_LENGTHS + octets.length, ...octets];
}

function sevenBits(number: number): readonly number[] {
  const octets = [number % MORE];
  for (let rest = Math.floor(number / MORE); rest > 0; rest = Math.floor(rest / MORE)) {
    octets.unshift((rest % MORE) + MORE);
  }
  return octets;
}

/** A certificate and its key. */
export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** PKCS #8 in PEM. */
  readonly key: string;
}

/** The common options of certificates. */
export interface IssueOptions {
  /** The subject's common name. */
  readonly name: string;
  /** Milliseconds since 1970; whole seconds count. */
  readonly from: number;
  readonly to: number;
  /** So many random octets, for the serial number. */
  readonly random: (octets: number) => Buffer;
}

/** The options of a server's certificate. */
export interface ServerOptions extends IssueOptions {
  /** The names by which clients know the server: DNS names and IP addresses; at least one. */
  readonly hosts: readonly string[];
}

const ECDSA_WITH_SHA256 = sequence(identifier("1.2.840.10045.4.3.2"));
const COMMON_NAME = identifier("2.5.4.3");
const SUBJECT_KEY_IDENTIFIER = identifier("2.5.29.14");
const KEY_USAGE = identifier("2.5.29.15");
const SUBJECT_ALT_NAME = identifier("2.5.29.17");
const BASIC_CONSTRAINTS = identifier("2.5.29.19");
const AUTHORITY_KEY_IDENTIFIER = identifier("2.5.29.35");
const EXTENDED_KEY_USAGE = identifier("2.5.29.37");
const SERVER_AUTHENTICATION = identifier("1.3.6.1.5.5.7.3.1");

const VERSION_3 = Buffer.from([2]);
/** The key usage of signing certificates: bit 5 of the first octet, whose other two bits do not count. */
const CERTIFICATE_SIGNING = bitString(Buffer.from([0x04]), 2);
/** The key usage of signing: bit 0. */
const DIGITAL_SIGNATURE = bitString(Buffer.from([0x80]), 7);
/** The path length of an authority that signs no other authorities. */
const NO_AUTHORITIES_BELOW = integer(Buffer.from([0]));

/** Octets of a serial number: 128 bits, unguessable and unique. */
const SERIAL_OCTETS = 16;
/** Octets of a point on P-256 at the end of a key: a tag and two coordinates. */
const POINT_OCTETS = 65;
/** Octets of a key's hash in its identifier (RFC 7093, 2). */
const KEY_IDENTIFIER_OCTETS = 20;
const DNS_NAME = contextTag(2, false);
const IP_ADDRESS = contextTag(7, false);

/** Issues a self-signed authority. */
export function issueAuthority(options: IssueOptions): Issued {
  const keys = newKeys();
  const subject = nameOf(options.name);
  const extensions = [
    extension(BASIC_CONSTRAINTS, sequence(yes(), NO_AUTHORITIES_BELOW), true),
    extension(KEY_USAGE, CERTIFICATE_SIGNING, true),
    extension(SUBJECT_KEY_IDENTIFIER, element(TAG.octetString, keyIdentifier(keys.publicKey))),
  ];
  const signer = { issuer: subject, key: keys.privateKey };
  return issued(keys.privateKey, certificate({ ...options, subject, extensions, publicKey: keys.publicKey }, signer));
}

/**
 * Issues a certificate for a server.
 * @param authority a result of {@link issueAuthority}
 * @throws CertificateProblem, or an error of node:crypto, when the authority can't be read
 */
export function issueServerCertificate(options: ServerOptions, authority: Issued): Issued {
  const keys = newKeys();
  const signing = createPrivateKey(authority.key);
  const { subject: issuer } = readCertificate(new X509Certificate(authority.certificate).raw, true);
  const authorityKey = element(contextTag(0, false), keyIdentifier(createPublicKey(signing)));
  const extensions = [
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(KEY_USAGE, DIGITAL_SIGNATURE, true),
    extension(EXTENDED_KEY_USAGE, sequence(SERVER_AUTHENTICATION)),
    extension(SUBJECT_KEY_IDENTIFIER, element(TAG.octetString, keyIdentifier(keys.publicKey))),
    extension(AUTHORITY_KEY_IDENTIFIER, sequence(authorityKey)),
    extension(SUBJECT_ALT_NAME, sequence(...options.hosts.map(generalName))),
  ];
  const parts = { ...options, subject: nameOf(options.name), extensions, publicKey: keys.publicKey };
  return issued(keys.privateKey, certificate(parts, { issuer: sequence(issuer), key: signing }));
}

interface Parts extends IssueOptions {
  readonly subject: Buffer;
  readonly extensions: readonly Buffer[];
  readonly publicKey: KeyObject;
}

function certificate(
  { from, to, random, subject, extensions, publicKey }: Parts,
  { issuer, key }: { readonly issuer: Buffer; readonly key: KeyObject },
): Buffer {
  const body = sequence(
    element(contextTag(0, true), integer(VERSION_3)),
    integer(serialNumber(random)),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(time(from), time(to)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    element(contextTag(3, true), sequence(...extensions)),
  );
  return sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, { key, dsaEncoding: "der" })));
}

/** A positive number of constant length: the first octet is neither zero nor has it the sign's bit. */
function serialNumber(random: IssueOptions["random"]): Buffer {
  const octets = Buffer.from(random(SERIAL_OCTETS));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return octets;
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const nameOf = (name: string): Buffer => sequence(element(TAG.set, sequence(COMMON_NAME, utf8String(name))));

const extension = (id: Buffer, value: Buffer, critical = false): Buffer =>
  sequence(id, ...(critical ? [yes()] : []), element(TAG.octetString, value));

function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: "spki", format: "der" }).subarray(-POINT_OCTETS);
  return createHash("sha256").update(point).digest().subarray(0, KEY_IDENTIFIER_OCTETS);
}

function generalName(host: string): Buffer {
  const address = isIP(host) === 0 ? undefined : addressOctets(host);
  return address === undefined ? element(DNS_NAME, Buffer.from(host)) : element(IP_ADDRESS, address);
}

const issued = (key: KeyObject, der: Buffer): Issued => ({
  certificate: pemOf(der),
  key: key.export({ type: "pkcs8", format: "pem" }).toString(),
});

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
