/** Certificates and keys from files, checked before they are used (spec kubewarden.md 9). */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { SecureVersion, TlsOptions } from "node:tls";

/** Where the material is and what clients must show. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities of client certificates; none: clients need no certificate. */
  readonly clientCaFiles: readonly string[];
  /** The oldest version spoken; default TLS 1.2. */
  readonly minVersion?: SecureVersion;
}

/** What a server can use. */
export interface TlsMaterial {
  readonly options: TlsOptions;
  /** When the server's certificate ends, milliseconds since 1970. */
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
  const [certText, keyText] = await Promise.all([readText(files.certFile), readText(files.keyFile)]);
  const chain = certificates(certText, files.certFile, "certificate file");
  const key = privateKey(keyText, files.keyFile);
  const [own] = chain;
  if (own === undefined) throw new TlsMaterialError(`no certificate in certificate file ${files.certFile}`);
  if (!own.checkPrivateKey(key)) {
    throw new TlsMaterialError(`the key in ${files.keyFile} does not belong to the certificate in ${files.certFile}`);
  }
  const authorities = await Promise.all(files.clientCaFiles.map(readAuthorities));
  return {
    options: {
      cert: certText,
      key: keyText,
      minVersion: files.minVersion ?? "TLSv1.2",
      ...(authorities.length > 0 && { ca: authorities.flat(), requestCert: true, rejectUnauthorized: true }),
    },
    expires: Date.parse(own.validTo),
    fingerprint: own.fingerprint256,
  };
}

async function readAuthorities(file: string): Promise<string[]> {
  return certificates(await readText(file), file, "client CA file").map((certificate) => certificate.toString());
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new TlsMaterialError(`cannot read ${file}: ${reason(cause)}`, { cause });
  }
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The reference takes exactly one certificate; a chain is accepted too, as most authorities hand one out. */
function certificates(text: string, file: string, what: string): X509Certificate[] {
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new TlsMaterialError(`Expected at least one certificate in ${what} ${file}, found 0`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new TlsMaterialError(`broken certificate in ${what} ${file}: ${reason(cause)}`, { cause });
  }
}

function privateKey(text: string, file: string): KeyObject {
  const found = text.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----/g)?.length ?? 0;
  if (found !== 1) throw new TlsMaterialError(`Expected exactly one key in key file ${file}, found ${found}`);
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new TlsMaterialError(`broken key in key file ${file}: ${reason(cause)}`, { cause });
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
