/** Certificates and certificate requests with the names and forms that Go's encoder gives their fields (spec kyverno.md 4.6). */
import type { Value } from "../../../cel/index.js";
import { readTime } from "../../../x509/certificate.js";
import { DerReader, TAG } from "../../../x509/der.js";
import {
  type Extension,
  extensionsOf,
  identifierOf,
  integerOf,
  nameParts,
  sequenceOf,
  tagged,
} from "../../../x509/fields.js";
import { MalformedRequest, readRequest } from "../../../x509/pkcs10/index.js";
import { extensionFields, subjectNames } from "./x509-extensions.js";

/** Fields by name; whole numbers are ints here. */
export type Fields = { [name: string]: Value };

const RSA = "1.2.840.113549.1.1.1";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const SET = 0x31;

/** Go's numbers for algorithms of signatures. */
const SIGNATURES: Readonly<Record<string, number>> = {
  "1.2.840.113549.1.1.4": 2,
  "1.2.840.113549.1.1.5": 3,
  "1.2.840.113549.1.1.11": 4,
  "1.2.840.113549.1.1.12": 5,
  "1.2.840.113549.1.1.13": 6,
};

const SET_NAMES: Readonly<Record<string, string>> = {
  "2.5.4.6": "Country",
  "2.5.4.7": "Locality",
  "2.5.4.8": "Province",
  "2.5.4.9": "StreetAddress",
  "2.5.4.10": "Organization",
  "2.5.4.11": "OrganizationalUnit",
  "2.5.4.17": "PostalCode",
};
const COMMON_NAME = "2.5.4.3";
const SERIAL_NUMBER = "2.5.4.5";

const base64 = (octets: Buffer): string => octets.toString("base64");

/** A list, or null for an empty one, as Go prints it. */
export const listOrNull = (list: readonly Value[]): Value => (list.length === 0 ? null : list);

/** A certificate's fields; `undefined` for one whose key is not an RSA key. Throws CertificateProblem. */
export function certificateFields(der: Buffer): Fields | undefined {
  const outer = new DerReader(sequenceOf(der));
  const signed = outer.element();
  outer.element();
  const signature = bits(outer.expect(TAG.bitString));
  const reader = new DerReader(signed.value);
  tagged(reader, 0);
  const serial = integerOf(reader.expect(TAG.integer));
  reader.element();
  const issuer = reader.element();
  const dates = new DerReader(reader.expect(TAG.sequence));
  const [from, to] = [readTime(dates), readTime(dates)];
  const subject = reader.element();
  const info = reader.element();
  const key = publicKey(info.value);
  if (key === undefined) return undefined;
  tagged(reader, 1);
  tagged(reader, 2);
  const list = tagged(reader, 3);
  const extensions = list === undefined ? [] : extensionsOf(sequenceOf(list));
  return {
    Raw: base64(der),
    RawTBSCertificate: base64(signed.raw),
    RawSubjectPublicKeyInfo: base64(info.raw),
    RawSubject: base64(subject.raw),
    RawIssuer: base64(issuer.raw),
    Signature: base64(signature),
    PublicKeyAlgorithm: 1,
    PublicKey: key,
    SerialNumber: Number(lowBits(serial)),
    Issuer: nameFields(issuer.value),
    NotBefore: dateText(from),
    NotAfter: dateText(to),
    Extensions: extensionList(extensions),
    ExtraExtensions: null,
    ...extensionFields(extensions),
  };
}

/** A request's fields; `undefined` for one whose key is not an RSA key. Throws CertificateProblem for a request that Go accepts and this does not read. */
export function requestFields(der: Buffer): Fields | MalformedRequest | undefined {
  const sound = readRequest(der);
  if (sound instanceof MalformedRequest) return sound;
  if (sound.publicKey.algorithm !== "RSA") return undefined;
  const outer = new DerReader(sequenceOf(der));
  const signed = outer.element();
  const algorithm = new DerReader(outer.expect(TAG.sequence)).expect(TAG.oid);
  const signature = bits(outer.expect(TAG.bitString));
  const reader = new DerReader(signed.value);
  const version = integerOf(reader.expect(TAG.integer));
  const subject = reader.element();
  const info = reader.element();
  const key = publicKey(info.value);
  if (key === undefined) return undefined;
  const attributes = attributesOf(tagged(reader, 0) ?? Buffer.alloc(0));
  const names = subjectNames(attributes.extensions);
  return {
    Raw: base64(der),
    RawTBSCertificateRequest: base64(signed.raw),
    RawSubjectPublicKeyInfo: base64(info.raw),
    RawSubject: base64(subject.raw),
    Version: Number(version),
    Signature: base64(signature),
    SignatureAlgorithm: SIGNATURES[identifierOf(algorithm).join(".")] ?? 0,
    PublicKeyAlgorithm: 1,
    PublicKey: key,
    Subject: nameFields(subject.value),
    Attributes: listOrNull(attributes.list),
    Extensions: extensionList(attributes.extensions),
    ExtraExtensions: null,
    ...names,
  };
}

/** The lowest 64 bits, as Go's big integers convert to small ones. */
function lowBits(value: bigint): bigint {
  const low = BigInt.asIntN(64, value < 0n ? -value : value);
  return value < 0n ? BigInt.asIntN(64, -low) : low;
}

const bits = (content: Buffer): Buffer => content.subarray(1);

function publicKey(info: Buffer): Value | undefined {
  const reader = new DerReader(info);
  const algorithm = new DerReader(reader.expect(TAG.sequence)).expect(TAG.oid);
  if (identifierOf(algorithm).join(".") !== RSA) return undefined;
  const numbers = new DerReader(sequenceOf(bits(reader.expect(TAG.bitString))));
  const modulus = integerOf(numbers.expect(TAG.integer));
  return { N: modulus.toString(), E: Number(integerOf(numbers.expect(TAG.integer))) };
}

function nameFields(name: Buffer): Value {
  const fields: Fields = { CommonName: "", SerialNumber: "", ExtraNames: null };
  const sets = new Map<string, string[]>(Object.values(SET_NAMES).map((field) => [field, []]));
  const parts = nameParts(name);
  for (const { type, value } of parts) {
    const id = type.join(".");
    if (id === COMMON_NAME) fields.CommonName = value;
    else if (id === SERIAL_NUMBER) fields.SerialNumber = value;
    else sets.get(SET_NAMES[id] ?? "")?.push(value);
  }
  for (const [field, values] of sets) fields[field] = listOrNull(values);
  fields.Names = listOrNull(parts.map(({ type, value }) => ({ Type: type, Value: value })));
  return fields;
}

const extensionList = (extensions: readonly Extension[]): Value =>
  listOrNull(extensions.map(({ id, critical, value }) => ({ Id: id, Critical: critical, Value: base64(value) })));

const dateText = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(".000Z", "Z");

/** A request's attributes, and the extensions among them. */
function attributesOf(content: Buffer): { readonly list: readonly Value[]; readonly extensions: readonly Extension[] } {
  const list: Value[] = [];
  const extensions: Extension[] = [];
  for (const reader = new DerReader(content); !reader.atEnd; ) {
    const attribute = new DerReader(reader.expect(TAG.sequence));
    const type = identifierOf(attribute.expect(TAG.oid));
    if (!attribute.peek(SET)) continue;
    const values = attribute.expect(SET);
    if (type.join(".") === EXTENSION_REQUEST) extensions.push(...extensionsOf(sequenceOf(values)));
    const pairs = pairsOf(values);
    if (pairs !== undefined) list.push({ Type: type, Value: pairs });
  }
  return { list, extensions };
}

/** Sets of types with values; `undefined` for an attribute of another form. */
function pairsOf(values: Buffer): Value | undefined {
  const sets: Value[] = [];
  for (const reader = new DerReader(values); !reader.atEnd; ) {
    const { tag, value } = reader.element();
    if (tag !== TAG.sequence) return undefined;
    const pairs: Value[] = [];
    for (const inner = new DerReader(value); !inner.atEnd; ) {
      const pair = new DerReader(inner.expect(TAG.sequence));
      const type = identifierOf(pair.expect(TAG.oid));
      const { tag: kind, value: content } = pair.element();
      // Of a critical extension the reference reads that as the value.
      if (kind !== TAG.octetString && kind !== TAG.boolean) return undefined;
      pairs.push({ Type: type, Value: kind === TAG.boolean ? content[0] !== 0 : base64(content) });
    }
    sets.push(pairs);
  }
  return sets;
}
