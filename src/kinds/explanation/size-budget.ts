/**
 * How much an explanation may hold, all in all: a group may ask its members about a thousand values, and each has an expression of up to a hundred thousand
 * characters. Some megabytes are more than anybody reads, and no danger to a page.
 */
export const MAX_CHARACTERS = 4_000_000;

/** What a part weighs beside its texts, in JSON. */
const PART_CHARACTERS = 60;

/** What is left of that (disposable). */
export class SizeBudget {
  #left = MAX_CHARACTERS;

  /** Whether there is room for texts; if so it is taken. */
  take(...texts: readonly (string | undefined)[]): boolean {
    const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), PART_CHARACTERS);
    if (length > this.#left) return false;
    this.#left -= length;
    return true;
  }
}
