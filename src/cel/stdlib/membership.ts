/**
 * Membership in a list by CEL's equality, without comparing everything with everything where most elements are strings, bools and numbers.
 */
import { equals } from "../operators/compare.js";
import { MAX_COMPARING_WORK, tooLarge } from "../values/limits.js";
import { numberOf } from "../values/numbers.js";
import type { Value } from "../values/value.js";
import { BoundedWork } from "../values/work.js";

/** The work of keeping one value. */
const ADD_UNITS = 200;

/**
 * A collection in which values are looked up. Strings and bools are found by themselves, numbers among those that round to the same double, other kinds by
 * comparing with each.
 */
export class Members {
  readonly #plain = new Set<Value>();
  readonly #numbers = new Map<number, Value[]>();
  readonly #others: Value[] = [];
  /** The work that comparisons may still take. */
  readonly #work = new BoundedWork(MAX_COMPARING_WORK);

  /** Adds a value. Ends the evaluation when the work is used up. */
  add(value: Value): void {
    this.#work.left -= ADD_UNITS;
    if (this.#work.left < 0) tooLarge();
    if (typeof value === "string" || typeof value === "boolean") {
      this.#plain.add(value);
      return;
    }
    const number = numberOf(value);
    if (number === undefined) {
      this.#others.push(value);
      return;
    }
    const bucket = this.#numbers.get(number);
    if (bucket === undefined) this.#numbers.set(number, [value]);
    else bucket.push(value);
  }

  /** Whether `value == member` for some member; a comparison with an error does not count. Ends the evaluation when the work is used up. */
  has(value: Value): boolean {
    if (typeof value === "string" || typeof value === "boolean") return this.#plain.has(value);
    const number = numberOf(value);
    const candidates = number === undefined ? this.#others : (this.#numbers.get(number) ?? []);
    const work = this.#work;
    for (const member of candidates) {
      if (work.left < 0) return tooLarge();
      if (equals(value, member, work) === true) return true;
    }
    return false;
  }
}
