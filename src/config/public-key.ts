/** Public keys in PEM: those that may be configured, and their names in messages. */
import { createHash, createPublicKey, type KeyObject } from "node:crypto";

/** The beginning of a private key in PEM, of whatever kind, even where YAML has folded its first line. */
const PRIVATE_KEY = /-----BEGIN\s+(?:[A-Z0-9]+\s+)*PRIVATE\s+KEY/;

/** The index of a private key in PEM within a text; -1 when there is none. */
export function privateKeyIn(text: string): number {
  return text.search(PRIVATE_KEY);
}

/** Reads a public key in PEM. Undefined for any other text, also for a private key, of which the runtime would read the public half. */
export function readPublicKey(pem: string): KeyObject | undefined {
  if (privateKeyIn(pem) !== -1) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** The name of a key: `sha256:<hex>` of its SubjectPublicKeyInfo in DER; `not a public key` for any other text. */
export function keyFingerprint(pem: string): string {
  const key = readPublicKey(pem);
  if (key === undefined) return "not a public key";
  return `sha256:${createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex")}`;
}
