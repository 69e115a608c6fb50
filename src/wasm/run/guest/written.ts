/** Parts of a memory that may have been written to since it was last restored. */
export interface Written {
  /** Notes a write of the host: address and length in bytes; both may be signed. */
  note(address: number, length: number): void;
  /** Sets the instance that writes from now on. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * Returns the parts, and resets them.
   * @param bytes the size of the memory
   * @returns begin and end of each part, in order
   */
  take(bytes: number): readonly number[];
}

/** Of a guest that can't write below a floor: all that is above, and all of the memory when its host has written below. */
export class WrittenAbove implements Written {
  readonly #floor: number;
  #isBelow = false;

  /** @param floor an address */
  constructor(floor: number) {
    this.#floor = floor;
  }

  note(address: number, length: number): void {
    if (length !== 0 && address >>> 0 < this.#floor) this.#isBelow = true;
  }

  entered(): void {}

  take(bytes: number): readonly number[] {
    const from = this.#isBelow ? 0 : this.#floor;
    this.#isBelow = false;
    return [from, bytes];
  }
}
