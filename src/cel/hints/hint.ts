/** A way to mend a mistake: said beside the reference's message, which stays as it is. */
export interface Hint {
  /** For people, an imperative without a full stop: `write startsWith`. */
  readonly text: string;
  /** The whole expression as the hint would have it, where that could be told; other mistakes in it stay. */
  readonly fixed?: string;
}

/** All hints for one expression as one text. */
export function hintText(hints: readonly (Hint | undefined)[]): string | undefined {
  const texts = new Set(hints.flatMap((hint) => (hint === undefined ? [] : [hint.text])));
  return texts.size === 0 ? undefined : [...texts].join("; ");
}
