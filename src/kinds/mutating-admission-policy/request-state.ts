import type { Bindings } from "../../cel/index.js";
import { sameValue } from "../../data/same-value.js";
import { isObject } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { isSameValue } from "../shared/expressions/long-expressions.js";
import { MutationSteps } from "../shared/mutation/mutation-steps.js";
import { Conversions } from "./conversions.js";

/**
 * The state of a request over its attempts (disposable). An attempt repeats the one before, up to where that stopped: results of mutations of
 * large objects are kept.
 */
export class RequestState extends MutationSteps {
  readonly conversions: Conversions;
  readonly #compared = new WeakMap<object, { readonly before: unknown; readonly differs: boolean }>();
  readonly #seen: Bindings[string][] = [];

  constructor(world: RequestWorld) {
    super();
    this.conversions = new Conversions(world);
  }

  /** The value of an earlier attempt that equals a new one: results of that attempt may contain it, and its struct is found by identity. */
  asSeen<T extends Bindings[string]>(value: T): T {
    const known = this.#seen.find((each) => isSameValue(each, value));
    if (known !== undefined) return known as T;
    this.#seen.push(value);
    return value;
  }

  /** Whether an object has changed; computed once for each. */
  differs(before: unknown, after: unknown): boolean {
    if (before === after || !isObject(after)) return before !== after;
    const known = this.#compared.get(after);
    if (known !== undefined && known.before === before) return known.differs;
    const differs = !sameValue(before, after);
    this.#compared.set(after, { before, differs });
    return differs;
  }
}
