/** Long work on the main thread, cut so that requests get their turn in between. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work goes on before others get their turn: a request that waits for it does not feel it. */
const SLICE_MS = 5;

/** Tells when a slice is over, and waits for the next. */
export class Slices {
  readonly #clock: () => number;
  #began: number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#began = clock();
  }

  /** Whether others should have their turn now. */
  over(): boolean {
    return this.#clock() - this.#began >= SLICE_MS;
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#began = this.#clock();
  }
}
