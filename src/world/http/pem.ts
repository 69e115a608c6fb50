import { X509Certificate } from "node:crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a text, each a PEM block; blocks of other kinds and those that hold no certificate are left out. */
export function certificatesOf(pem: string): readonly string[] {
  return (pem.match(BLOCK) ?? []).filter((block) => {
    try {
      new X509Certificate(block);
      return true;
    } catch {
      return false;
    }
  });
}
