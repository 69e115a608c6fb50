/** Patterns in which `*` stands for any text (spec certificate-request-policy.md 2.3). */

const STAR = "*";

/**
 * A pattern, prepared. Only `*` is special: any characters, or none; nothing escapes it. Letter case counts. Matching reads the text once: the
 * text between two stars is best matched at its first place.
 */
export class Wildcard {
  /** The pattern as written. */
  readonly pattern: string;
  /** The text before the first star; without a star, the whole text. */
  readonly #start: string;
  /** The texts between stars, in order; `undefined` where there is no star. */
  readonly #middle: readonly string[] | undefined;
  readonly #end: string;

  constructor(pattern: string) {
    this.pattern = pattern;
    const parts = pattern.split(STAR);
    this.#start = parts[0] ?? "";
    this.#end = parts.at(-1) ?? "";
    this.#middle = parts.length === 1 ? undefined : parts.slice(1, -1).filter((part) => part !== "");
  }

  /** Whether the whole text fits. */
  matches(text: string): boolean {
    // Comparing code units is as good as comparing code points: no character of well-formed text begins within another.
    const [start, middle, end] = [this.#start, this.#middle, this.#end];
    if (middle === undefined) return text === start;
    const last = text.length - end.length;
    if (last < start.length || !text.startsWith(start) || !text.endsWith(end)) return false;
    let at = start.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= last;
  }
}
