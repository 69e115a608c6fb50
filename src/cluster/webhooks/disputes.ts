/** Detects another writer that reverts our writes as quickly as we make them: both would write forever. */
import type { Clock } from "../../data/clock.js";

/** Number of consecutive times that others' changes are reverted at once. */
const AT_ONCE = 5;
/** The first and the longest pause after that; each is twice the one before. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;

/** Counts reverted changes. */
export class Disputes {
  readonly #clock: Pick<Clock, "now">;
  #intended = "";
  #putBack = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds for which others' changes are left alone; 0: they are reverted at once. */
  get pause(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  /** Whether there has been a pause, and no quiet time since. */
  get isOpen(): boolean {
    return this.#putBack > AT_ONCE;
  }

  /**
   * Records a write.
   * @param intended identifies the written state
   * @param hasChanged whether something else stood there
   */
  wrote(intended: string, hasChanged: boolean): void {
    const now = this.#clock.now();
    const isQuiet = !hasChanged && now >= this.#pausedUntil + LAST_PAUSE_MS;
    if (intended !== this.#intended || isQuiet) {
      this.#intended = intended;
      this.#putBack = 0;
      this.#pausedUntil = Number.NEGATIVE_INFINITY;
    } else if (hasChanged) {
      this.#putBack += 1;
      const pauses = this.#putBack - AT_ONCE;
      if (pauses > 0) this.#pausedUntil = now + Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (pauses - 1));
    }
  }
}
