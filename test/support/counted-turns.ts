import { Turns } from "../../src/policy/turns.js";

/** Turns that are counted. */
export class CountedTurns extends Turns {
  count = 0;
  readonly #onNext: () => void;

  /** @param onNext called whenever one is asked for */
  constructor(onNext: () => void = () => {}) {
    super();
    this.#onNext = onNext;
  }

  override next(): Promise<void> {
    this.count += 1;
    this.#onNext();
    return super.next();
  }
}
