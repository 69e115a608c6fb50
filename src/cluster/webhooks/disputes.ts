/** Whether somebody else wants what we write to be something else, and is as quick as we are: both would write for ever. */
import type { Clock } from "../../data/clock.js";

/** How often in a row what others have changed is put back at once. */
const AT_ONCE = 5;
/** The first and the longest pause after that; each is twice the one before. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;

/** Counts what was put back. */
export class Disputes {
  readonly #clock: Pick<Clock, "now">;
  #intended = "";
  #putBack = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds for which what others change is left as it is; 0: it is put back at once. */
  get pause(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  /** Whether there has been a pause, and it has not been quiet since. */
  get isOpen(): boolean {
    return this.#putBack > AT_ONCE;
  }

  /**
   * Notes what was just written.
   * @param intended tells it from everything else that was ever to be written
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
