/** What all processes have counted, for a client of this one: the primary is asked. */
import { oneAtATime } from "../telemetry/one-at-a-time.js";

/** How long the primary may take: more than it gives the serving processes itself, less than Prometheus waits by default. */
const WITHIN_MS = 8000;

/** Asks the primary. */
export class WantedSums<T> {
  /** The question that is open, with what has come so far. */
  #open: { readonly id: number; readonly soFar?: T; readonly answer: (sums: T) => void } | undefined;
  #questions = 0;
  /** The sums of all processes. Those who ask at the same time share it. */
  readonly get: () => Promise<T>;

  /**
   * @param ask puts the question; what comes for it is to be given to {@link hear}
   * @param late the answer when none comes in a time
   */
  constructor(ask: (id: number) => void, late: (withinMs: number) => T) {
    this.get = oneAtATime(
      () =>
        new Promise((resolve) => {
          const answer = (sums: T): void => {
            clearTimeout(timer);
            this.#open = undefined;
            resolve(sums);
          };
          const timer = setTimeout(() => answer(late(WITHIN_MS)), WITHIN_MS);
          const id = this.#questions++;
          this.#open = { id, answer };
          ask(id);
        }),
    );
  }

  /** Takes an answer, or what there is of it with a part more. One that nobody waits for any more is dropped. */
  hear(id: number, sums: (soFar: T | undefined) => T, isWhole = true): void {
    if (this.#open?.id !== id) return;
    const soFar = sums(this.#open.soFar);
    if (isWhole) this.#open.answer(soFar);
    else this.#open = { ...this.#open, soFar };
  }
}
