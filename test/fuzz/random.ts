/** Numbers that look random and are the same for the same seed: a case that failed can be made again. */

/** A whole number from 0, less than `below`. */
export type Random = (below: number) => number;

/** @param seed any whole number */
export function random(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One of several. */
export function pick<T>(next: Random, from: readonly T[]): T {
  if (from.length === 0) throw new Error("nothing to pick from");
  return from[next(from.length)] as T;
}

/** A number that depends on a text and nothing else. */
export function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return sum >>> 0;
}
