import { type Bindings, CelError, type Result } from "../../cel/index.js";
import { sameValue } from "../../data/same-value.js";
import { isObject } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { isSameValue } from "../shared/expressions/long-expressions.js";
import { Conversions } from "./conversions.js";
import type { Mutation } from "./evaluate-mutation.js";
import type { Applied, Patched } from "./mutate.js";

/** The result of a mutation so far, and its inputs. */
interface Step {
  readonly before: unknown;
  readonly value: Result;
  asked: Mutation | undefined;
  applied: Applied | undefined;
  patched: Patched | undefined;
}

/**
 * The state of a request over its attempts (disposable). An attempt repeats the one before, up to where that stopped: results of mutations of
 * large objects are kept.
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

  /** Must be called when an attempt begins. */
  begin(): void {
    this.#next = 0;
  }

  /** The next mutation's step: the earlier one, if an earlier attempt had the same value for the same object. */
  step(before: unknown, value: Result): Step {
    const at = this.#next++;
    const known = this.#steps[at];
    if (known !== undefined && known.before === before && isSameResult(known.value, value)) return known;
    this.#steps.length = at;
    const step: Step = { before, value, asked: undefined, applied: undefined, patched: undefined };
    this.#steps.push(step);
    return step;
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

/** Whether two results are the same; compile errors are new objects in each attempt. */
const isSameResult = (a: Result, b: Result): boolean =>
  a === b || (a instanceof CelError && b instanceof CelError && a.message === b.message && a.code === b.code);
