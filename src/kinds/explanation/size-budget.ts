/**
 * Most characters of a whole explanation: a group may ask its members about a thousand values, and each has an expression of up to a hundred thousand
 * characters. Some megabytes are more than anyone reads, and not too much for a page.
 */
export const MAX_CHARACTERS = 4_000_000;

/** Characters of a part beside its texts, in JSON. */
const PART_CHARACTERS = 60;

/** The rest of the budget (disposable). */
export class SizeBudget {
  #left = MAX_CHARACTERS;

  /** Takes room for texts; false if there is not enough. */
  take(...texts: readonly (string | undefined)[]): boolean {
    const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), PART_CHARACTERS);
    if (length > this.#left) return false;
    this.#left -= length;
    return true;
  }
}
