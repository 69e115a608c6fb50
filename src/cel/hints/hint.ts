/** A way to mend a mistake: said beside the reference's message, which stays as it is. */
export interface Hint {
  /** For people, an imperative without a full stop: `write startsWith`. */
  readonly text: string;
  /** The whole expression as the hint would have it, where that could be told; other mistakes in it stay. */
  readonly fixed?: string;
}
