/** What is known of the operands of a function's code, while it is walked over from front to back. */

/** What an operand is, in place of the local that it comes from. */
export const UNKNOWN = -1;
/** Its value is known. */
export const CONSTANT = -2;
/** Where an operand was left that is not on top there. */
export const NOWHERE = -1;

const FIRST_ROOM = 256;

/** Operands. Of each: the local that it comes from (or what else it is), what was added to that, the local's version, and where it is on top. */
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

  /** Several of which nothing is known; only the last one is on top at `at`. */
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
