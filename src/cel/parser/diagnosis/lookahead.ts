/** Computes which tokens may come next. */
import type { Part } from "./notation.js";

/** Stands in a set of tokens for "may be empty". */
export const EPSILON = -2;

/** Computes the sets for one grammar, and keeps them. */
export class Lookahead {
  /** The sets by the parts, and by the number of parts that are left out. */
  readonly #known = new Map<readonly Part[], ReadonlySet<number>[]>();

  constructor(readonly grammar: ReadonlyMap<string, readonly Part[]>) {}

  /** The tokens that a rule, or parts from one of them on, may begin with; with {@link EPSILON} when it may be empty. */
  readonly first = (what: string | readonly Part[], from = 0): ReadonlySet<number> => {
    const parts = typeof what === "string" ? this.grammar.get(what)! : what;
    let known = this.#known.get(parts);
    if (known === undefined) {
      known = [];
      this.#known.set(parts, known);
    }
    known[from] ??= this.#sequence(parts, from);
    return known[from];
  };

  #sequence(parts: readonly Part[], from: number): ReadonlySet<number> {
    const tokens = new Set([EPSILON]);
    for (let index = from; index < parts.length && tokens.delete(EPSILON); index += 1) {
      for (const type of this.#part(parts[index]!)) tokens.add(type);
    }
    return tokens;
  }

  #part(part: Part): Iterable<number> {
    switch (part.kind) {
      case "token":
        return part.types;
      case "rule":
        return this.first(part.rule);
      case "optional":
        return [EPSILON, ...this.first(part.body)];
      case "loop":
        return part.plus ? this.first(part.body) : [EPSILON, ...this.first(part.body)];
      case "choice":
        return part.alternatives.flatMap(({ parts }) => [...this.first(parts)]);
    }
  }
}
