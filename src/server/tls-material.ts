/** Certificates and keys from files, checked before they are used (spec kubewarden.md 9). */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { SecureVersion, TlsOptions } from "node:tls";

/** The requirements for clients. */
export interface TlsClients {
  /** Authorities of client certificates; none: clients need no certificate. */
  readonly clientCaFiles: readonly string[];
  /** The oldest version spoken; default TLS 1.2. */
  readonly minVersion?: SecureVersion;
}

/** The files of the material, and the requirements for clients. */
export interface TlsFiles extends TlsClients {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate chain and its key as texts, with their names in messages. */
export interface TlsPair {
  /** PEM: the server's own certificate first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  /** Such as `certificate file x`. */
  readonly certificateName: string;
  readonly keyName: string;
}

/** The material of a server. */
export interface TlsMaterial {
  readonly options: TlsOptions;
  /** The end of the server certificate's validity, milliseconds since 1970. */
  readonly expires: number;
  /** The certificate's SHA-256 fingerprint, to see which one is in force. */
  readonly fingerprint: string;
}

/** Certificate files that can't be used; the message says which and why. */
export class TlsMaterialError extends Error {
  readonly code = "TLS_MATERIAL";
  override readonly name = "TlsMaterialError";
}

/**
 * Reads and checks everything.
 * @throws TlsMaterialError when a file is missing or broken, or key and certificate don't belong together (as in the middle of a rotation)
 */
export async function readTlsMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const { certFile, keyFile } = files;
  const [certificate, key] = await Promise.all([readText(certFile), readText(keyFile)]);
  const names = { certificateName: `certificate file ${certFile}`, keyName: `key file ${keyFile}` };
  // Errors of the server's own files are reported first.
  const own = tlsMaterial({ certificate, key, ...names }, {});
  return { ...own, options: { ...own.options, ...(await readClientOptions(files)) } };
}

/**
 * Checks a certificate and its key.
 * @param clients a result of {@link readClientOptions}
 * @throws TlsMaterialError when one is broken, or they don't belong together
 */
export function tlsMaterial(pair: TlsPair, clients: TlsOptions): TlsMaterial {
  const { certificate, key, certificateName, keyName } = pair;
  const [own] = certificates(certificate, certificateName);
  if (own?.checkPrivateKey(privateKey(key, keyName)) !== true)
    throw new TlsMaterialError(`the key in ${keyName} does not belong to the certificate in ${certificateName}`);
  return {
    options: { cert: certificate, key, ...clients },
    expires: Date.parse(own.validTo),
    fingerprint: own.fingerprint256,
  };
}

/**
 * Reads the requirements for clients.
 * @throws TlsMaterialError when a file is missing or broken
 */
export async function readClientOptions({ clientCaFiles, minVersion = "TLSv1.2" }: TlsClients): Promise<TlsOptions> {
  const authorities = await Promise.all(clientCaFiles.map(readAuthorities));
  return {
    minVersion,
    ...(authorities.length > 0 && { ca: authorities.flat(), requestCert: true, rejectUnauthorized: true }),
  };
}

async function readAuthorities(file: string): Promise<string[]> {
  return certificates(await readText(file), `client CA file ${file}`).map((certificate) => certificate.toString());
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new TlsMaterialError(`cannot read ${file}: ${reason(cause)}`, { cause });
  }
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a file. The reference accepts exactly one; a chain is accepted too, as most authorities issue one. */
function certificates(text: string, name: string): X509Certificate[] {
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new TlsMaterialError(`Expected at least one certificate in ${name}, found 0`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new TlsMaterialError(`broken certificate in ${name}: ${reason(cause)}`, { cause });
  }
}

function privateKey(text: string, name: string): KeyObject {
  const found = text.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----/g)?.length ?? 0;
  if (found !== 1) throw new TlsMaterialError(`Expected exactly one key in ${name}, found ${found}`);
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new TlsMaterialError(`broken key in ${name}: ${reason(cause)}`, { cause });
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
