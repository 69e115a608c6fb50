/** Name constraints (RFC 5280, 4.2.1.10), as the reference implementation's library reads them: those that it can't judge are refused. */
import { contextTag, DerReader, type Element, readAll, TAG } from "./der.js";
import { CertificateProblem } from "./problem.js";

/** Most comparisons for one question: constraints and names multiply. */
export const MOST_COMPARISONS = 250_000;

/** Tags of general names, without the bits of their encoding. */
const NAME = { mail: 1, dns: 2, directory: 4, uri: 6, ip: 7 } as const;
const TEXTS: readonly number[] = [NAME.mail, NAME.uri];
const HIGHEST_NAME = 8;

interface GeneralName {
  readonly kind: number;
  readonly value: Buffer;
}

/** A subject, which every certificate has, as a directory name. */
const SUBJECT: GeneralName = { kind: NAME.directory, value: Buffer.alloc(0) };

/**
 * Checks the names of a certificate against the constraints of one above it.
 * @param constraints the content of the extension
 * @param subjectAltName the content of the extension
 * @param count called for every comparison
 * @param judgesHosts whether mail addresses and URIs are judged by their hosts: a constraint is one host, all below it (`.example.org`), or one mailbox
 * @throws CertificateProblem
 */
export function checkNames(
  constraints: Buffer,
  subjectAltName: Buffer | undefined,
  count: () => void,
  judgesHosts = false,
): void {
  const [permitted, excluded] = readAll(constraints, (reader) => [
    subtrees(reader, contextTag(0, true)),
    subtrees(reader, contextTag(1, true)),
  ]);
  for (const names = new DerReader(subjectAltName ?? Buffer.alloc(0)); !names.atEnd; )
    checkName(generalName(names.element()), permitted, excluded, count, judgesHosts);
  checkName(SUBJECT, permitted, excluded, count, judgesHosts);
}

function subtrees(reader: DerReader, tag: number): Buffer {
  return reader.peek(tag) ? reader.expect(tag) : Buffer.alloc(0);
}

function checkName(
  name: GeneralName,
  permitted: Buffer | undefined,
  excluded: Buffer | undefined,
  count: () => void,
  judgesHosts: boolean,
): void {
  const matches = judgesHosts && TEXTS.includes(name.kind) ? hostMatches : judged;
  let constrained = false;
  let allowed = false;
  for (const base of basesOf(permitted, count)) {
    if (base.kind !== name.kind) continue;
    constrained = true;
    if (matches(name, base, true)) allowed = true;
  }
  if (constrained && !allowed) throw new CertificateProblem("NameConstraintViolation");
  for (const base of basesOf(excluded, count)) {
    if (base.kind === name.kind && matches(name, base, false)) throw new CertificateProblem("NameConstraintViolation");
  }
}

function* basesOf(list: Buffer | undefined, count: () => void): Generator<GeneralName> {
  for (const reader = new DerReader(list ?? Buffer.alloc(0)); !reader.atEnd; ) {
    count();
    // Minimum and maximum must be absent.
    yield readAll(reader.expect(TAG.sequence), (inner) => generalName(inner.element()), "TrailingData(GeneralName)");
  }
}

function generalName({ tag, value }: Element): GeneralName {
  const kind = tag & 0x1f;
  const constructed = kind === 0 || (kind >= 3 && kind <= 5);
  if (kind > HIGHEST_NAME || tag !== contextTag(kind, constructed)) throw new CertificateProblem("BadDer");
  return { kind, value };
}

/** Whether a name is within a constraint of the same kind. Kinds that cannot be judged are never within what is permitted, and always within what is excluded. */
function judged(name: GeneralName, base: GeneralName, permitted: boolean): boolean {
  switch (name.kind) {
    case NAME.dns:
      return dnsMatches(name.value.toString("latin1"), base.value.toString("latin1"), permitted);
    case NAME.ip:
      return addressMatches(name.value, base.value);
    case NAME.directory:
    case NAME.uri:
      return !permitted;
    default:
      throw new CertificateProblem("NameConstraintViolation");
  }
}

/** Whether the host of a mail address or a URI is within a constraint. */
function hostMatches({ kind, value }: GeneralName, base: GeneralName): boolean {
  const [text, within] = [value.toString("latin1"), base.value.toString("latin1").toLowerCase()];
  const isMail = kind === NAME.mail;
  const host = (isMail ? text.slice(text.lastIndexOf("@") + 1) : hostOf(text)).toLowerCase();
  if (!isDnsName(host)) throw new CertificateProblem("NameConstraintViolation");
  if (isMail && within.includes("@")) return text.toLowerCase() === within;
  return within === "" || (within.startsWith(".") ? host.endsWith(within) : host === within);
}

const hostOf = (uri: string): string => (URL.canParse(uri) ? new URL(uri).hostname : "");

const LABEL = "(?!-)[A-Za-z0-9_-]{1,63}(?<!-)";
const DNS_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const LONGEST_DNS_NAME = 253;

/** Whether a DNS name is within a constraint: `example.com` covers itself and all below, `.example.com` only those below; an empty one covers all. */
function dnsMatches(presented: string, base: string, permitted: boolean): boolean {
  const wildcard = presented.startsWith("*.");
  const plain = wildcard ? presented.slice(2) : presented;
  if (presented.length > LONGEST_DNS_NAME || !isDnsName(plain) || (wildcard && !plain.includes(".")))
    throw new CertificateProblem("MalformedDnsIdentifier");
  if (base !== "" && (base.length > LONGEST_DNS_NAME || !isDnsName(base.replace(/^\./, ""))))
    throw new CertificateProblem("MalformedNameConstraint");
  const [name, within] = [presented.toLowerCase(), base.toLowerCase()];
  if (within === "") return true;
  if (name.length > within.length && name.endsWith(within))
    return within.startsWith(".") || name.at(-within.length - 1) === ".";
  // An excluded name is also covered by a wildcard that may stand for it.
  if (wildcard && !permitted && name.length <= within.length)
    return within.indexOf(".", 1) > 0 && within.slice(within.indexOf(".", 1)) === name.slice(1);
  return name === within;
}

function isDnsName(text: string): boolean {
  return DNS_NAME.test(text) && !/(?:^|\.)\d+$/.test(text);
}

/** Whether an address is within a constraint, which is an address and a mask of the same length. */
function addressMatches(name: Buffer, constraint: Buffer): boolean {
  const lengths = `${name.length}/${constraint.length}`;
  if (lengths === "4/32" || lengths === "16/8") return false;
  if (name.length !== 4 && name.length !== 16) throw new CertificateProblem("BadDer");
  if (constraint.length !== 2 * name.length) throw new CertificateProblem("InvalidNetworkMaskConstraint");
  const mask = constraint.subarray(name.length);
  let ended = false;
  for (const [index, bits] of mask.entries()) {
    const ones = Math.clz32(~(bits << 24));
    if (((0xff << (8 - ones)) & 0xff) !== bits || (ended && bits !== 0))
      throw new CertificateProblem("InvalidNetworkMaskConstraint");
    if (bits !== 0xff) ended = true;
    if ((((name[index] ?? 0) ^ (constraint[index] ?? 0)) & bits) !== 0) return false;
  }
  return true;
}
