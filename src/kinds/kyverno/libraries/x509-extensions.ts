/** The contents of a certificate's extensions, under the names of Go's fields (spec kyverno.md 4.6). */
import type { Value } from "../../../cel/index.js";
import { fromOctets, UrlError } from "../../../data/go/url-escape.js";
import { parseUrlReference } from "../../../data/go/url-reference.js";
import { DerReader, TAG } from "../../../x509/der.js";
import {
  type Extension,
  type GeneralName,
  generalNames,
  identifierOf,
  sequenceOf,
  tagged,
} from "../../../x509/fields.js";
import { ipText } from "../../../x509/ip-text.js";
import { CertificateProblem } from "../../../x509/problem.js";

type Fields = { [name: string]: Value };

/** Numbers of general names. */
const MAIL = 1;
const DNS = 2;
const URI = 6;
const ADDRESS = 7;

const OCSP = "1.3.6.1.5.5.7.48.1";
const ISSUERS = "1.3.6.1.5.5.7.48.2";
/** The extended usages in the order of Go's numbers. */
const EXTENDED_USAGES: readonly string[] = [
  "2.5.29.37.0",
  ...Array.from({ length: 9 }, (_, index) => `1.3.6.1.5.5.7.3.${index + 1}`),
  "1.3.6.1.4.1.311.10.3.3",
  "2.16.840.1.113730.4.1",
  "1.3.6.1.4.1.311.2.1.22",
  "1.3.6.1.4.1.311.61.1.1",
];
/** Number of a key usage's bits that Go knows. */
const USAGES = 9;

const listOrNull = (list: readonly Value[]): Value => (list.length === 0 ? null : list);
const text = ({ value }: GeneralName): string => value.toString("latin1");
const textsOf = (names: readonly GeneralName[], tag: number): Value =>
  listOrNull(names.filter((name) => name.tag === tag).map(text));

/** The fields that extensions fill, or leave as they are. */
export function extensionFields(extensions: readonly Extension[]): Fields {
  const fields: Fields = { ...NO_EXTENSIONS };
  for (const { id, critical, value } of extensions) {
    const read = EXTENSIONS[id.join(".")];
    if (read !== undefined) Object.assign(fields, read(value, critical));
  }
  return fields;
}

/** The subject's other names in a request, URIs too. */
export function subjectNames(extensions: readonly Extension[]): Fields {
  const extension = extensions.find(({ id }) => id.join(".") === "2.5.29.17");
  const names = extension === undefined ? [] : generalNames(sequenceOf(extension.value));
  return { ...alternatives(names), URIs: listOrNull(names.filter(({ tag }) => tag === URI).map(uriFields)) };
}

const NO_EXTENSIONS: Fields = {
  KeyUsage: 0,
  ExtKeyUsage: null,
  BasicConstraintsValid: false,
  IsCA: false,
  MaxPathLen: 0,
  MaxPathLenZero: false,
  AuthorityKeyId: null,
  OCSPServer: null,
  IssuingCertificateURL: null,
  DNSNames: null,
  EmailAddresses: null,
  IPAddresses: null,
  PermittedDNSDomainsCritical: false,
  PermittedDNSDomains: null,
  ExcludedDNSDomains: null,
  PermittedIPRanges: null,
  ExcludedIPRanges: null,
  PermittedEmailAddresses: null,
  ExcludedEmailAddresses: null,
  PermittedURIDomains: null,
  ExcludedURIDomains: null,
  CRLDistributionPoints: null,
  PolicyIdentifiers: null,
};

const EXTENSIONS: Readonly<Record<string, (value: Buffer, critical: boolean) => Fields>> = {
  "2.5.29.15": (value) => ({ KeyUsage: usageOf(new DerReader(value).expect(TAG.bitString)) }),
  "2.5.29.17": (value) => alternatives(generalNames(sequenceOf(value))),
  "2.5.29.19": (value) => constraints(new DerReader(sequenceOf(value))),
  "2.5.29.30": (value, critical) => nameConstraints(new DerReader(sequenceOf(value)), critical),
  "2.5.29.31": (value) => ({ CRLDistributionPoints: distributionPoints(sequenceOf(value)) }),
  "2.5.29.32": (value) => ({ PolicyIdentifiers: policies(sequenceOf(value)) }),
  "2.5.29.35": (value) => {
    const key = tagged(new DerReader(sequenceOf(value)), 0);
    return { AuthorityKeyId: key === undefined ? null : key.toString("base64") };
  },
  "2.5.29.37": (value) => ({ ExtKeyUsage: listOrNull(extendedUsages(sequenceOf(value))) }),
  "1.3.6.1.5.5.7.1.1": (value) => authorityAccess(sequenceOf(value)),
};

function usageOf(bits: Buffer): number {
  let usage = 0;
  for (let bit = 0; bit < USAGES; bit++) {
    const octet = bits[1 + Math.floor(bit / 8)] ?? 0;
    if ((octet & (0x80 >> (bit % 8))) !== 0) usage |= 1 << bit;
  }
  return usage;
}

function extendedUsages(list: Buffer): readonly number[] {
  const usages: number[] = [];
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const usage = EXTENDED_USAGES.indexOf(identifierOf(reader.expect(TAG.oid)).join("."));
    if (usage !== -1) usages.push(usage);
  }
  return usages;
}

function constraints(reader: DerReader): Fields {
  const isCa = reader.optionalBoolean();
  const length = reader.atEnd ? -1 : reader.smallInteger();
  return { BasicConstraintsValid: true, IsCA: isCa, MaxPathLen: length, MaxPathLenZero: length === 0 };
}

function alternatives(names: readonly GeneralName[]): Fields {
  return {
    DNSNames: textsOf(names, DNS),
    EmailAddresses: textsOf(names, MAIL),
    IPAddresses: listOrNull(names.filter(({ tag }) => tag === ADDRESS).map(({ value }) => addressText(value))),
  };
}

function authorityAccess(list: Buffer): Fields {
  const found = new Map<string, string[]>([
    [OCSP, []],
    [ISSUERS, []],
  ]);
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const part = new DerReader(reader.expect(TAG.sequence));
    const method = identifierOf(part.expect(TAG.oid)).join(".");
    const uri = tagged(part, URI);
    if (uri !== undefined) found.get(method)?.push(uri.toString("latin1"));
  }
  return { OCSPServer: listOrNull(found.get(OCSP) ?? []), IssuingCertificateURL: listOrNull(found.get(ISSUERS) ?? []) };
}

function distributionPoints(list: Buffer): Value {
  const points: string[] = [];
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const point = tagged(new DerReader(reader.expect(TAG.sequence)), 0);
    const names = point && tagged(new DerReader(point), 0);
    if (names === undefined) continue;
    for (const name of generalNames(names)) if (name.tag === URI) points.push(text(name));
  }
  return listOrNull(points);
}

function policies(list: Buffer): Value {
  const identifiers: Value[] = [];
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    identifiers.push(identifierOf(new DerReader(reader.expect(TAG.sequence)).expect(TAG.oid)));
  }
  return listOrNull(identifiers);
}

function nameConstraints(reader: DerReader, critical: boolean): Fields {
  const [permitted, excluded] = [subtrees(tagged(reader, 0)), subtrees(tagged(reader, 1))];
  return {
    PermittedDNSDomainsCritical: critical,
    PermittedDNSDomains: textsOf(permitted, DNS),
    ExcludedDNSDomains: textsOf(excluded, DNS),
    PermittedIPRanges: ranges(permitted),
    ExcludedIPRanges: ranges(excluded),
    PermittedEmailAddresses: textsOf(permitted, MAIL),
    ExcludedEmailAddresses: textsOf(excluded, MAIL),
    PermittedURIDomains: textsOf(permitted, URI),
    ExcludedURIDomains: textsOf(excluded, URI),
  };
}

function subtrees(list: Buffer | undefined): readonly GeneralName[] {
  const names: GeneralName[] = [];
  if (list === undefined) return names;
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const [name] = generalNames(reader.expect(TAG.sequence));
    if (name !== undefined) names.push(name);
  }
  return names;
}

function ranges(names: readonly GeneralName[]): Value {
  const found = names.filter(({ tag }) => tag === ADDRESS);
  return listOrNull(
    found.map(({ value }) => {
      const half = value.length / 2;
      return { IP: addressText(value.subarray(0, half)), Mask: value.subarray(half).toString("base64") };
    }),
  );
}

function addressText(octets: Buffer): string {
  const text = ipText(octets);
  if (text === undefined) throw new CertificateProblem("BadDer");
  return text;
}

function uriFields(name: GeneralName): Value {
  const uri = parseUrlReference(text(name));
  if (uri instanceof UrlError) throw new CertificateProblem("BadDer");
  // A host with octets beyond ASCII makes the whole request unreadable (readRequest).
  return { Scheme: uri.scheme, Host: uri.host, Path: fromOctets(uri.path) };
}
