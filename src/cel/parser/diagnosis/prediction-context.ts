/** Stacks of return states that prediction keeps, merged into graphs. Equal graphs are one object. */
import type { State } from "./network.js";

/** Where to go on when a rule ends: the alternatives in order of state. The last one is {@link END} where the outermost rule ends. */
export interface PredictionContext {
  readonly id: number;
  readonly returns: readonly Return[];
}

/** One alternative. */
export interface Return {
  /** `undefined`: the end of the outermost rule. */
  readonly state: State | undefined;
  readonly parent: PredictionContext | undefined;
}

const END: Return = Object.freeze({ state: undefined, parent: undefined });

/** Makes contexts; all that are compared must come from one factory. */
export class PredictionContexts {
  readonly #known = new Map<string, PredictionContext>();
  readonly #merged = new Map<string, PredictionContext>();
  /** The empty stack. Where the caller is not known, it stands for any stack. */
  readonly empty = this.#intern([END]);

  /** A stack with one more return state. */
  push(state: State, parent: PredictionContext): PredictionContext {
    return this.#intern([{ state, parent }]);
  }

  /** Whether a stack may be at its end. */
  mayEnd(context: PredictionContext): boolean {
    return context.returns.at(-1)!.state === undefined;
  }

  /** Both stacks in one. With `wildcard` the empty stack stands for any, and absorbs the other. */
  merge(a: PredictionContext, b: PredictionContext, wildcard: boolean): PredictionContext {
    if (a === b) return a;
    if (wildcard && (a === this.empty || b === this.empty)) return this.empty;
    const key = `${a.id}:${b.id}:${wildcard}`;
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const returns = new Map(a.returns.map((each) => [each.state, each]));
    for (const each of b.returns) {
      const other = returns.get(each.state);
      if (other === undefined) returns.set(each.state, each);
      else if (each.parent !== undefined && other.parent !== undefined) {
        returns.set(each.state, { state: each.state, parent: this.merge(other.parent, each.parent, wildcard) });
      }
    }
    const merged = this.#intern([...returns.values()].sort((x, y) => order(x) - order(y)));
    this.#merged.set(key, merged);
    return merged;
  }

  #intern(returns: readonly Return[]): PredictionContext {
    const key = returns.map(({ state, parent }) => `${state?.id ?? "end"}>${parent?.id ?? ""}`).join(",");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const context = { id: this.#known.size, returns };
    this.#known.set(key, context);
    return context;
  }
}

const order = ({ state }: Return): number => state?.id ?? Number.MAX_SAFE_INTEGER;
