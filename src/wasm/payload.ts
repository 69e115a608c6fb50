import type { Review } from "../policy/review.js";

/** The empty payload. */
export const NOTHING: Uint8Array = new Uint8Array();

/** Allocates the memory of a payload. */
export type Allocate = (length: number) => Uint8Array;

/** New memory: posting a view to a thread copies its whole buffer. */
const own: Allocate = (length) => Buffer.allocUnsafeSlow(length);

/** Joins parts. */
export function payload(parts: readonly Uint8Array[], allocate = own): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = allocate(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A review's request, to be a part of a payload. */
export const requestPieces = (review: Review): readonly Uint8Array[] =>
  review.requestPieces?.() ?? [review.requestBytes()];

/** Memory for one payload after the other: each payload replaces the one before. */
export class PayloadScratch {
  readonly #most: number;
  #memory: Uint8Array = NOTHING;

  /** @param most bytes that are kept; a longer payload has memory of its own */
  constructor(most: number) {
    this.#most = most;
  }

  readonly allocate: Allocate = (length) => {
    if (length > this.#most) return own(length);
    if (length > this.#memory.length) this.#memory = own(Math.min(this.#most, 2 * length));
    return this.#memory.subarray(0, length);
  };
}

/** The payload of a text, in UTF-8: short results of `Buffer.from` lie in a shared buffer of eight KiB. */
export const textPayload = (text: string): Uint8Array => payload([Buffer.from(text)]);
