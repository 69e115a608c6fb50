/** What of a memory may have been written to since it was last brought back. */
export interface Written {
  /** The host writes so many bytes from an address on; both may be given as signed. */
  note(address: number, length: number): void;
  /** The instance that writes from now on. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * Where that is, which it forgets.
   * @param bytes of the memory
   * @returns where each part begins and ends, in order
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
