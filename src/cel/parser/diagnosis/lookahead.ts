/** Which tokens may come next. */
import { EOF } from "../../lexer/token-type.js";
import type { State } from "./network.js";

/** Stands in a set of tokens for "the rule may end here". */
export const EPSILON = -2;

/** The rules that are being parsed, innermost first: where each goes on when it ends. */
export interface CallStack {
  readonly follow: State;
  readonly caller: CallStack | undefined;
}

/** Answers for one network; remembers what it found. */
export class Lookahead {
  readonly #known = new Map<number, ReadonlySet<number>>();

  /** The tokens that may come next within the rule; with {@link EPSILON} when the rule may end. */
  within(state: State): ReadonlySet<number> {
    const known = this.#known.get(state.id);
    if (known !== undefined) return known;
    const tokens = new Set<number>();
    new Search(tokens, EPSILON).visit(state, undefined);
    this.#known.set(state.id, tokens);
    return tokens;
  }

  /** The tokens that may come next, given where the parser goes on after the rule. */
  after(state: State, stack: CallStack | undefined): ReadonlySet<number> {
    const tokens = new Set<number>();
    new Search(tokens, EOF).visit(state, stack);
    return tokens;
  }

  /** The tokens expected by a parser in this state. */
  expected(state: State, stack: CallStack | undefined): ReadonlySet<number> {
    let following = this.within(state);
    if (!following.has(EPSILON)) return following;
    const tokens = new Set(following);
    let at = stack;
    while (at !== undefined && following.has(EPSILON)) {
      following = this.within(at.follow);
      for (const type of following) tokens.add(type);
      at = at.caller;
    }
    tokens.delete(EPSILON);
    if (following.has(EPSILON)) tokens.add(EOF);
    return tokens;
  }
}

/** One walk over the network that stops at tokens. */
class Search {
  readonly #visited = new Map<State, Set<CallStack | undefined>>();
  /** Rules being entered: a rule that calls itself before any token adds nothing. */
  readonly #entered = new Set<string>();

  constructor(
    readonly tokens: Set<number>,
    readonly atEnd: number,
  ) {}

  visit(state: State, stack: CallStack | undefined): void {
    const seen = this.#visited.get(state) ?? new Set();
    if (seen.has(stack)) return;
    this.#visited.set(state, seen.add(stack));
    if (state.kind === "ruleStop") {
      this.#leave(state, stack);
      return;
    }
    for (const edge of state.edges) {
      if (edge.kind === "tokens") {
        for (const type of edge.types) this.tokens.add(type);
      } else if (edge.kind === "rule") {
        if (this.#entered.has(edge.rule)) continue;
        this.#entered.add(edge.rule);
        this.visit(edge.target, { follow: edge.follow, caller: stack });
        this.#entered.delete(edge.rule);
      } else {
        this.visit(edge.target, stack);
      }
    }
  }

  #leave(stop: State, stack: CallStack | undefined): void {
    if (stack === undefined) {
      this.tokens.add(this.atEnd);
      return;
    }
    const wasEntered = this.#entered.delete(stop.rule);
    this.visit(stack.follow, stack.caller);
    if (wasEntered) this.#entered.add(stop.rule);
  }
}
