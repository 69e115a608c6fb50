/** Public keys in PEM: those that may be configured, and the name under which messages show one. */
import { createHash, createPublicKey, type KeyObject } from "node:crypto";

/** How a private key in PEM begins, of whatever kind, also where YAML has folded its first line. */
const PRIVATE_KEY = /-----BEGIN\s+(?:[A-Z0-9]+\s+)*PRIVATE\s+KEY/;

/** Index at which a text has a private key in PEM; -1 when it has none. */
export function privateKeyIn(text: string): number {
  return text.search(PRIVATE_KEY);
}

/** Reads a public key in PEM. Undefined when it is none; a private key, of which the runtime would take the public half, is none either. */
export function readPublicKey(pem: string): KeyObject | undefined {
  if (privateKeyIn(pem) !== -1) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** The name of a key: `sha256:<hex>` of its SubjectPublicKeyInfo in DER; `not a public key` for a text that is none. */
export function keyFingerprint(pem: string): string {
  const key = readPublicKey(pem);
  if (key === undefined) return "not a public key";
  return `sha256:${createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex")}`;
}
