/** The contents of a Secret of certificates, parsed and checked. */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** A parsed certificate with its times. */
export interface ReadCertificate {
  /** The first certificate in the text. */
  readonly certificate: X509Certificate;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** An authority of the bundle. */
export interface Authority extends ReadCertificate {
  /** PEM, without surrounding text. */
  readonly pem: string;
}

/** The certificate and key to serve, and the authorities that have signed it. */
export interface CertificateContent {
  /** PEM: the server's own certificate, then the intermediate ones. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  readonly leaf: ReadCertificate;
  /** The replicas' announcement when they serve it: the first 16 hexadecimal digits of its SHA-256. */
  readonly fingerprint: string;
  /** The authorities that clients have to trust; in a Secret of ours the signing one comes first. */
  readonly bundle: readonly Authority[];
}

/** A certificate, key or bundle that can't be used; the message says which and why. */
export class ContentError extends Error {
  readonly code = "CERTIFICATE_CONTENT";
  override readonly name = "ContentError";
}

const FINGERPRINT_DIGITS = 16;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The texts of the contents, with their names for messages. */
export interface ContentTexts {
  readonly certificate: string;
  readonly key: string;
  /** Absent or without a certificate: the last one of `certificate` is the authority. */
  readonly bundle?: string;
  readonly names: { readonly certificate: string; readonly key: string; readonly bundle: string };
}

/**
 * Parses and checks the texts together.
 * @throws ContentError
 */
export function readContent({ certificate, key, bundle = "", names }: ContentTexts): CertificateContent {
  const chain = readAuthorities(certificate, names.certificate);
  const [leaf] = chain;
  if (leaf === undefined) throw new ContentError(`${names.certificate} holds no certificate`);
  if (!leaf.certificate.checkPrivateKey(readKey(key, names.key)))
    throw new ContentError(`the key in ${names.key} does not belong to the certificate in ${names.certificate}`);
  const authorities = readAuthorities(bundle, names.bundle);
  if (bundle.trim() !== "" && authorities.length === 0) throw new ContentError(`${names.bundle} holds no certificate`);
  return {
    certificate,
    key,
    leaf,
    fingerprint: fingerprintOf(leaf.certificate),
    bundle: authorities.length > 0 ? authorities : chain.slice(-1),
  };
}

/**
 * The certificates in a text, in their order.
 * @param name the text's name for messages
 * @throws ContentError
 */
export function readAuthorities(text: string, name: string): readonly Authority[] {
  return (text.match(PEM_CERTIFICATE) ?? []).map((block) => {
    try {
      const certificate = new X509Certificate(block);
      const { validFrom, validTo } = certificate;
      return { certificate, pem: certificate.toString(), from: Date.parse(validFrom), to: Date.parse(validTo) };
    } catch (cause) {
      throw new ContentError(`broken certificate in ${name}: ${messageOf(cause)}`, { cause });
    }
  });
}

/** Whether a certificate is valid at a time. @param wall milliseconds since 1970 */
export const isValid = ({ from, to }: ReadCertificate, wall: number): boolean => from <= wall && wall < to;

/** Whether an authority has signed a certificate. */
export const isSignedBy = ({ certificate }: ReadCertificate, authority: Authority): boolean =>
  certificate.checkIssued(authority.certificate) && certificate.verify(authority.certificate.publicKey);

/** Whether a certificate has this name or address. */
export const hasHost = ({ certificate }: ReadCertificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host, { wildcards: false }) : certificate.checkIP(host)) !== undefined;

/** The names and addresses of a certificate of ours. */
export const hostsOf = ({ certificate: { subjectAltName = "" } }: ReadCertificate): readonly string[] =>
  subjectAltName.split(", ").map((name) => name.replace(/^(DNS|IP Address):/, ""));

/** The authority of a bundle to which a key belongs; `undefined` for none, and for a key that can't be read. */
export function authorityOf(bundle: readonly Authority[], key: string | undefined): Authority | undefined {
  if (key === undefined) return undefined;
  try {
    const own = createPublicKey(createPrivateKey(key));
    return bundle.find(({ certificate }) => certificate.publicKey.equals(own));
  } catch {
    return undefined;
  }
}

/** All of a bundle in one text. */
export const bundleText = (bundle: readonly Pick<Authority, "pem">[]): string => bundle.map(({ pem }) => pem).join("");

const fingerprintOf = ({ fingerprint256 }: X509Certificate): string =>
  fingerprint256.replaceAll(":", "").slice(0, FINGERPRINT_DIGITS).toLowerCase();

function readKey(text: string, name: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new ContentError(`${name} holds no private key that can be read: ${messageOf(cause)}`, { cause });
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
