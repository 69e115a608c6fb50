/** Reads the parts of an X.509 certificate on which its trust depends (RFC 5280, 4.1), as the reference implementation's library does. */
import { contextTag, DerReader, readAll, TAG } from "./der.js";
import { CertificateProblem, type ProblemName } from "./problem.js";

/** A parsed certificate. Names are the contents of their DER, and compared as such. */
export interface Certificate {
  readonly der: Buffer;
  /** The content of the integer. */
  readonly serialNumber: Buffer;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** Milliseconds since 1970. */
  readonly validity: () => { readonly from: number; readonly to: number };
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** The signed part, DER. */
  readonly signed: Buffer;
  /** The content of the AlgorithmIdentifier. */
  readonly signatureAlgorithm: Buffer;
  readonly signature: Buffer;
  readonly extensions: Extensions;
  /** The content of the sequence of all extensions. */
  readonly extensionList: Buffer;
}

/** The contents of the relevant extensions: of their sequence, of `keyUsage` the whole. */
export interface Extensions {
  readonly keyUsage?: Buffer;
  readonly subjectAltName?: Buffer;
  readonly basicConstraints?: Buffer;
  readonly nameConstraints?: Buffer;
  readonly extendedKeyUsage?: Buffer;
  /** Read because it may be critical; revocation is not checked. */
  readonly crlDistributionPoints?: Buffer;
}

/** The extensions by the last part of 2.5.29.x. */
const EXTENSIONS: Readonly<Record<number, keyof Extensions>> = {
  15: "keyUsage",
  17: "subjectAltName",
  19: "basicConstraints",
  30: "nameConstraints",
  31: "crlDistributionPoints",
  37: "extendedKeyUsage",
};
const STANDARD_ARC = Buffer.from([0x55, 0x1d]);
const VERSION_3 = 2;

/**
 * Reads a certificate from DER.
 * @param anchor whether it is trusted anyway: it may then have unknown critical extensions, and be of version 1
 * @throws CertificateProblem
 */
export function readCertificate(der: Buffer, anchor = false): Certificate {
  const [tbs, signatureAlgorithm, signature] = readAll(
    der,
    (outer) => outer.nested(TAG.sequence, "TrailingData(SignedData)", readSigned),
    "TrailingData(Certificate)",
  );
  const reader = new DerReader(new DerReader(tbs).expect(TAG.sequence));
  const old = anchor && !reader.peek(contextTag(0, true));
  if (!old) readVersion(reader, anchor ? "BadDer" : "UnsupportedCertVersion");
  const serialNumber = reader.expect(TAG.integer);
  const algorithm = reader.expect(TAG.sequence);
  if (!old && !algorithm.equals(signatureAlgorithm)) throw new CertificateProblem("SignatureAlgorithmMismatch");
  const issuer = reader.expect(TAG.sequence);
  const validity = reader.expect(TAG.sequence);
  const subject = reader.expect(TAG.sequence);
  const publicKey = reader.element();
  if (publicKey.tag !== TAG.sequence) throw new CertificateProblem("BadDer");
  const extensionList = old || reader.atEnd ? Buffer.alloc(0) : readExtensionList(reader.expect(contextTag(3, true)));
  const extensions = readExtensions(extensionList, anchor);
  if (!reader.atEnd) throw new CertificateProblem("TrailingData(CertificateTbsCertificate)");
  return {
    der,
    serialNumber,
    issuer,
    subject,
    validity: () => readAll(validity, (dates) => ({ from: readTime(dates), to: readTime(dates) })),
    publicKey: publicKey.raw,
    signed: tbs,
    signatureAlgorithm,
    signature,
    extensions,
    extensionList,
  };
}

function readSigned(reader: DerReader): [Buffer, Buffer, Buffer] {
  const { raw } = reader.element();
  return [raw, reader.expect(TAG.sequence), bitsOf(reader.expect(TAG.bitString))];
}

/** The bits of a bit string of whole bytes. */
function bitsOf(value: Buffer): Buffer {
  if (value[0] !== 0) throw new CertificateProblem("BadDer");
  return value.subarray(1);
}

function readVersion(reader: DerReader, unsupported: ProblemName): void {
  const version = reader.nested(contextTag(0, true), unsupported, (inner) => inner.smallInteger());
  if (version !== VERSION_3) throw new CertificateProblem(unsupported);
}

const readExtensionList = (tagged: Buffer): Buffer =>
  readAll(tagged, (reader) => reader.expect(TAG.sequence), "TrailingData(CertificateExtensions)");

function readExtensions(list: Buffer, anchor: boolean): Extensions {
  const found: { -readonly [name in keyof Extensions]: Extensions[name] } = {};
  const problem = "TrailingData(Extension)";
  for (const reader = new DerReader(list); !reader.atEnd; ) {
    const [id, critical, value] = reader.nested(TAG.sequence, problem, readExtension);
    const number = id.length === 3 && id.subarray(0, 2).equals(STANDARD_ARC) ? id[2] : undefined;
    const name = number === undefined ? undefined : EXTENSIONS[number];
    if (name === undefined) {
      if (critical && !anchor) throw new CertificateProblem("UnsupportedCriticalExtension");
      continue;
    }
    if (found[name] !== undefined) throw new CertificateProblem("ExtensionValueInvalid");
    found[name] = name === "keyUsage" ? value : readAll(value, (inner) => inner.expect(TAG.sequence), problem);
  }
  return found;
}

function readExtension(reader: DerReader): [Buffer, boolean, Buffer] {
  return [reader.expect(TAG.oid), reader.optionalBoolean(), reader.expect(TAG.octetString)];
}

const TIME = /^(\d{2,4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;
/** First of the two-digit years that belong to the last century. */
const LAST_CENTURY = 50;

/** A time as milliseconds since 1970; throws CertificateProblem. */
export function readTime(reader: DerReader): number {
  const { tag, value } = reader.element();
  if (tag !== TAG.utcTime && tag !== TAG.generalizedTime) throw new CertificateProblem("BadDer");
  const match = TIME.exec(value.toString("latin1"));
  if (match?.[1]?.length !== (tag === TAG.utcTime ? 2 : 4)) throw new CertificateProblem("BadDerTime");
  const [written = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const year = tag === TAG.generalizedTime ? written : written + (written < LAST_CENTURY ? 2000 : 1900);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!real || hour > 23 || minute > 59 || second > 59) throw new CertificateProblem("BadDerTime");
  return date.setUTCHours(hour, minute, second);
}
