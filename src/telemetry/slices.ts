/** Long work on the main thread, in slices between which requests have their turn. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work continues before others have their turn: a request that waits for it is hardly delayed. */
const SLICE_MS = 5;

/** Measures slices, and waits between them. */
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
