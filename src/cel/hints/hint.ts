/** A way to correct a mistake: shown beside the reference's message, which stays as it is. */
export interface Hint {
  /** For people, an imperative without a full stop: `write startsWith`. */
  readonly text: string;
  /** The whole expression with the hint applied, where that is known; other mistakes in it stay. */
  readonly fixed?: string;
}

/** All hints for one expression as one text. */
export function hintText(hints: readonly (Hint | undefined)[]): string | undefined {
  const texts = new Set(hints.flatMap((hint) => (hint === undefined ? [] : [hint.text])));
  return texts.size === 0 ? undefined : [...texts].join("; ");
}
