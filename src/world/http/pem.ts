import { X509Certificate } from "node:crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Longest text of certificates, in characters: a system's whole store has 220,000. The text may come from a request. */
export const MAX_PEM_CHARACTERS = 256 * 1024;
/** Most blocks in it: a system's whole store has 150. */
const MAX_BLOCKS = 200;

/**
 * The certificates of a text of PEM blocks, as one text; blocks of other kinds and those without a certificate are left out. `undefined` where
 * there is none, or more than {@link MAX_PEM_CHARACTERS}; `""` for an empty text, which stands for the default ones.
 */
export function trusted(pem: string): string | undefined {
  if (pem === "") return pem;
  if (pem.length > MAX_PEM_CHARACTERS) return undefined;
  const blocks = pem.match(BLOCK) ?? [];
  const certificates = blocks.length > MAX_BLOCKS ? [] : blocks.filter(isCertificate);
  return certificates.length === 0 ? undefined : certificates.join("\n");
}

function isCertificate(block: string): boolean {
  try {
    new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}
