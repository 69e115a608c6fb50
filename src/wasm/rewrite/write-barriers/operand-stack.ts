/** Known properties of the operands in a function's code, while it is scanned from front to back. */

/** An unknown operand, in place of the local that it comes from. */
export const UNKNOWN = -1;
/** An operand with a known value. */
export const CONSTANT = -2;
/** Position of an operand that is never on top. */
export const NOWHERE = -1;

const FIRST_ROOM = 256;

/**
 * Operands. Each has the local that it comes from (or one of the above), the constant added to it, the local's version, and the position where it is
 * on top.
 */
export class OperandStack {
  height = 0;
  #base = new Int32Array(FIRST_ROOM);
  #added = new Int32Array(FIRST_ROOM);
  #version = new Int32Array(FIRST_ROOM);
  #at = new Int32Array(FIRST_ROOM);

  push(base: number, added: number, version: number, at: number): void {
    if (this.height === this.#base.length) this.#grow();
    this.#base[this.height] = base;
    this.#added[this.height] = added;
    this.#version[this.height] = version;
    this.#at[this.height++] = at;
  }

  /** Pushes unknown operands; only the last one is on top at `at`. */
  pushUnknown(count: number, at: number): void {
    for (let left = count; left > 0; left--) this.push(UNKNOWN, 0, 0, left === 1 ? at : NOWHERE);
  }

  base(index: number): number {
    return this.#base[index] ?? UNKNOWN;
  }

  added(index: number): number {
    return this.#added[index] ?? 0;
  }

  version(index: number): number {
    return this.#version[index] ?? 0;
  }

  at(index: number): number {
    return this.#at[index] ?? NOWHERE;
  }

  #grow(): void {
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const made = new Int32Array(old.length * 2);
      made.set(old);
      return made;
    };
    this.#base = larger(this.#base);
    this.#added = larger(this.#added);
    this.#version = larger(this.#version);
    this.#at = larger(this.#at);
  }
}
