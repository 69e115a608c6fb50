import { type Bindings, CelError, type Result } from "../../cel/index.js";
import { sameValue } from "../../data/same-value.js";
import { isObject } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { isSameValue } from "../shared/expressions/long-expressions.js";
import { Conversions } from "./conversions.js";
import type { Mutation } from "./evaluate-mutation.js";
import type { Applied, Patched } from "./mutate.js";

/** What a mutation has come to so far, and what it is made of. */
interface Step {
  readonly before: unknown;
  readonly value: Result;
  asked: Mutation | undefined;
  applied: Applied | undefined;
  patched: Patched | undefined;
}

/**
 * What is kept of a request over its attempts (disposable). An attempt does the same as the one before, up to where that left off: what mutations made of
 * large objects is not made again.
 */
export class RequestState {
  readonly conversions: Conversions;
  readonly #steps: Step[] = [];
  readonly #compared = new WeakMap<object, { readonly before: unknown; readonly differs: boolean }>();
  readonly #seen: Bindings[string][] = [];
  #next = 0;

  constructor(world: RequestWorld) {
    this.conversions = new Conversions(world);
  }

  /** An attempt begins. */
  begin(): void {
    this.#next = 0;
  }

  /** The next mutation's step: as it was, if an earlier attempt came by the same value for the same object. */
  step(before: unknown, value: Result): Step {
    const at = this.#next++;
    const known = this.#steps[at];
    if (known !== undefined && known.before === before && isSameResult(known.value, value)) return known;
    this.#steps.length = at;
    const step: Step = { before, value, asked: undefined, applied: undefined, patched: undefined };
    this.#steps.push(step);
    return step;
  }

  /** A value that an attempt has made anew, as an earlier one has seen it: what that one came to may hold it, and what it is a struct of is told by its identity. */
  asSeen<T extends Bindings[string]>(value: T): T {
    const known = this.#seen.find((each) => isSameValue(each, value));
    if (known !== undefined) return known as T;
    this.#seen.push(value);
    return value;
  }

  /** Whether an object is another one than it was; looked at once for each. */
  differs(before: unknown, after: unknown): boolean {
    if (before === after || !isObject(after)) return before !== after;
    const known = this.#compared.get(after);
    if (known !== undefined && known.before === before) return known.differs;
    const differs = !sameValue(before, after);
    this.#compared.set(after, { before, differs });
    return differs;
  }
}

/** What does not compile is an error of its own in each attempt. */
const isSameResult = (a: Result, b: Result): boolean =>
  a === b || (a instanceof CelError && b instanceof CelError && a.message === b.message && a.code === b.code);
