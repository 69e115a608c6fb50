import { offsetBehind } from "./characters.js";
import type { Cursor } from "./cursor.js";

/** Most characters from the beginning of a key to its colon, unless `?` stands before it. */
const LONGEST_SIMPLE_KEY = 1024;

/** A node that may become a key once its colon is found; one for every level of flow style, and one for the block around. */
export interface Candidate {
  isOpen: boolean;
  /** Whether its first token waits for the colon. */
  isAwaited: boolean;
  /** Whether only a key can stand there: a colon has to follow. */
  isRequired: boolean;
  /** The number of its first token in the document, counted from 0. */
  token: number;
  start: number;
  /** The last possible place of its colon; -1 until that is computed. */
  latest: number;
  lineStart: number;
  /** Number of the bracket that opened this level of flow style, while no candidate has been found in it. */
  bracket: number;
}

/** An empty candidate. */
export const candidate = (): Candidate => ({
  isOpen: false,
  isAwaited: false,
  isRequired: false,
  token: 0,
  start: 0,
  latest: -1,
  lineStart: 0,
  bracket: -1,
});

/** Whether a colon at the cursor is near enough to its beginning. */
export function isNear(one: Candidate, { at, text }: Cursor): boolean {
  if (at - one.start <= LONGEST_SIMPLE_KEY) return true;
  if (one.latest === -1) one.latest = offsetBehind(text, one.start, LONGEST_SIMPLE_KEY);
  return at <= one.latest;
}
