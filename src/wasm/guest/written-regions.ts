/** What has been written to of a memory since it was last brought back, as its guest has marked it and its host has noted it. */
import { type Marking, REGIONS, SLACK_BYTES } from "../meter/marks/marking.js";
import { HIGH_MARKS_NAME, LOW_MARKS_NAME } from "./names.js";
import type { Written } from "./written.js";

const HALF = REGIONS / 2;
const WORD = 2 ** 32;

type ReadMarks = () => number;

/** Regions of one memory. */
export class WrittenRegions implements Written {
  readonly #shift: number;
  /** Bits of the host's writes, and of instances that were here before. */
  #low = 0;
  #high = 0;
  #instance: WebAssembly.Instance | undefined;
  #readLow: ReadMarks | undefined;
  #readHigh: ReadMarks | undefined;

  constructor({ shift }: Marking) {
    this.#shift = shift;
  }

  note(address: number, length: number): void {
    if (length === 0) return;
    const first = address >>> this.#shift;
    const last = Math.floor(((address >>> 0) + (length < 0 ? length + WORD : length) - 1) / 2 ** this.#shift);
    if (last - first >= REGIONS - 1) {
      this.#low = -1;
      this.#high = -1;
      return;
    }
    for (let region = first; region <= last; region++) {
      const bit = region % REGIONS;
      if (bit < HALF) this.#low |= 1 << bit;
      else this.#high |= 1 << (bit - HALF);
    }
  }

  entered(instance: WebAssembly.Instance): void {
    if (instance === this.#instance) return;
    this.#readMarks();
    const { [LOW_MARKS_NAME]: low, [HIGH_MARKS_NAME]: high } = instance.exports;
    if (typeof low !== "function" || typeof high !== "function")
      throw new Error("the module does not mark what it writes to");
    this.#instance = instance;
    this.#readLow = low as ReadMarks;
    this.#readHigh = high as ReadMarks;
  }

  take(bytes: number): readonly number[] {
    this.#readMarks();
    const low = this.#low;
    const high = this.#high;
    this.#low = 0;
    this.#high = 0;
    const size = 2 ** this.#shift;
    const parts: number[] = [];
    let behind = -1;
    for (let region = 0, from = 0; from < bytes; region++, from += size) {
      const bit = region % REGIONS;
      if ((bit < HALF ? low >>> bit : high >>> (bit - HALF)) % 2 === 0) continue;
      const end = Math.min(from + size + SLACK_BYTES, bytes);
      if (from <= behind) parts[parts.length - 1] = end;
      else parts.push(from, end);
      behind = end;
    }
    return parts;
  }

  #readMarks(): void {
    // The upper half is read last: that makes the instance forget them.
    if (this.#readLow) this.#low |= this.#readLow();
    if (this.#readHigh) this.#high |= this.#readHigh();
  }
}
