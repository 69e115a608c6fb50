import type { Review } from "../policy/review.js";

/** What a guest gets where there is nothing to say. */
export const NOTHING: Uint8Array = new Uint8Array();

/** Where a payload is put together. */
export type Allocate = (length: number) => Uint8Array;

/** Memory of its own: what is posted to a thread is copied with all the memory it lies in. */
const own: Allocate = (length) => Buffer.allocUnsafeSlow(length);

/** The parts as one piece. */
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

/** Memory for one payload after the other: what was put together there is gone with the next. */
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

/** The same of a text, in UTF-8: short ones made by `Buffer.from` lie in eight KiB that they share with others. */
export const textPayload = (text: string): Uint8Array => payload([Buffer.from(text)]);
