/** Short hashes of texts, to detect changes: not safe against intended collisions. */

/** FNV-1a's prime. */
const PRIME = 0x01000193;
/** FNV-1a's first value. */
export const FIRST_SEED = 0x811c9dc5;
/** Another first value, for a second, independent hash. */
export const SECOND_SEED = 0x9e3779b1;

/** 32 bits of a text (FNV-1a over its code units, mixed at the end). */
export function hashText(text: string, seed: number = FIRST_SEED): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return mixed(hash);
}

/** Combines two hashes in one number of 32 bits. */
export const combined = (a: number, b: number): number => mixed(Math.imul(a ^ (b >>> 0), PRIME) + b);

function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
