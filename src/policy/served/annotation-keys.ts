/**
 * Keys of audit annotations where several policies answer in one webhook's name. The API server puts that name and a slash before each and drops what is no qualified name
 * then: another slash, more than 63 characters.
 */
import { createHash } from "node:crypto";

/** The longest key. */
const LONGEST = 63;
/** Hexadecimal digits that stand for a policy whose id leaves no room for the key. */
const DIGITS = 8;
const UNUSABLE = /[^A-Za-z0-9._-]+/g;
const EDGES = /^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g;

/** `<policy>.<key>` of each; or, where that is too long or taken, some digits that stand for the policy, and the key. */
export function annotationKeys(
  annotations: readonly (readonly [policy: string, key: string, value: string])[],
): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [policy, key, value] of annotations) {
    const plain = `${policy}.${key}`.replace(UNUSABLE, "-").replace(EDGES, "");
    found.set(plain.length <= LONGEST && !found.has(plain) ? plain : short(policy, key), value);
  }
  return Object.fromEntries(found);
}

function short(policy: string, key: string): string {
  const digits = createHash("sha256").update(policy).digest("hex").slice(0, DIGITS);
  const end = key.replace(UNUSABLE, "-").slice(-(LONGEST - DIGITS - 1));
  return `${digits}.${end}`.replace(EDGES, "");
}
