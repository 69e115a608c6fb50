/** Regions of a memory that were written to since it was last restored, marked by its guest or noted by its host. */

import { highMarksName, lowMarksName } from "../../names.js";
import { type Marking, REGIONS, SLACK_BYTES } from "../../rewrite/write-barriers/marking.js";
import type { Written } from "./written.js";

const HALF = REGIONS / 2;
const WORD = 2 ** 32;

type ReadMarks = () => number;

/** Regions of one memory. */
export class WrittenRegions implements Written {
  readonly #levels: readonly [Level, ...Level[]];
  #instance: WebAssembly.Instance | undefined;

  constructor({ shifts: [smallest, ...others] }: Marking) {
    this.#levels = [new Level(smallest, 0), ...others.map((shift, number) => new Level(shift, number + 1))];
  }

  note(address: number, length: number): void {
    if (length === 0) return;
    const last = (address >>> 0) + (length < 0 ? length + WORD : length) - 1;
    for (const level of this.#levels) level.note(address >>> 0, last);
  }

  entered(instance: WebAssembly.Instance): void {
    if (instance === this.#instance) return;
    for (const level of this.#levels) {
      level.readMarks();
      level.entered(instance);
    }
    this.#instance = instance;
  }

  take(bytes: number): readonly number[] {
    const [smallest, ...others] = this.#levels;
    for (const level of this.#levels) level.readMarks();
    const size = 2 ** smallest.shift;
    const parts: number[] = [];
    let behind = -1;
    for (let from = 0; from < bytes; from += size) {
      if (!smallest.has(from) || !others.every((level) => level.has(from))) continue;
      const end = Math.min(from + size + SLACK_BYTES, bytes);
      if (from <= behind) parts[parts.length - 1] = end;
      else parts.push(from, end);
      behind = end;
    }
    for (const level of this.#levels) level.forget();
    return parts;
  }
}

/** Regions of one size: the bits of the host's writes and of the memory's instances. */
class Level {
  readonly shift: number;
  readonly #number: number;
  #low = 0;
  #high = 0;
  #readLow: ReadMarks | undefined;
  #readHigh: ReadMarks | undefined;

  constructor(shift: number, number: number) {
    this.shift = shift;
    this.#number = number;
  }

  /** @param last the address of the last byte, which may be beyond all memory */
  note(from: number, last: number): void {
    const first = from >>> this.shift;
    const end = Math.floor(last / 2 ** this.shift);
    if (end - first >= REGIONS - 1) {
      this.#low = -1;
      this.#high = -1;
      return;
    }
    for (let region = first; region <= end; region++) {
      const bit = region % REGIONS;
      if (bit < HALF) this.#low |= 1 << bit;
      else this.#high |= 1 << (bit - HALF);
    }
  }

  entered({ exports }: WebAssembly.Instance): void {
    const [low, high] = [exports[lowMarksName(this.#number)], exports[highMarksName(this.#number)]];
    if (typeof low !== "function" || typeof high !== "function")
      throw new Error("the module does not mark what it writes to");
    this.#readLow = low as ReadMarks;
    this.#readHigh = high as ReadMarks;
  }

  readMarks(): void {
    // The upper half is read last: that resets the instance's marks.
    if (this.#readLow) this.#low |= this.#readLow();
    if (this.#readHigh) this.#high |= this.#readHigh();
  }

  /** Whether the bit of an address' region is set. */
  has(address: number): boolean {
    const bit = (address >>> this.shift) % REGIONS;
    return (bit < HALF ? this.#low >>> bit : this.#high >>> (bit - HALF)) % 2 !== 0;
  }

  forget(): void {
    this.#low = 0;
    this.#high = 0;
  }
}
