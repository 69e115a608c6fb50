/**
 * Turns on the main thread: an evaluation that has held it for a while waits here, and continues when newly arrived requests were handled. One
 * continues per turn of the event loop, however many wait: together they would hold it as long as one that never waits.
 */

/** Longest time that a request may hold the main thread without a pause: other requests, probes and deadlines wait meanwhile. */
const MAX_STRETCH_MS = 100;

/** Milliseconds that an evaluation runs before it gives up its turn. */
export const SLICE_MS = 10;

/**
 * Milliseconds that an uninterruptible part of an expression may take, such as a call, and a whole expression where turns are not taken; then it has
 * timed out. The API server's cost limits for expressions aim at a tenth of a second, too.
 */
export const EXPRESSION_STRETCH_MS = MAX_STRETCH_MS - SLICE_MS;

/** Milliseconds from which a turn counts as long: input in pieces is cut into shorter ones, and an expression continues in steps. */
export const LONG_TURN_MS = 2 * SLICE_MS;

/** Gives turns. */
export interface TurnGiver {
  /** Resolves when the caller has its turn. */
  next(): Promise<void>;
}

/** The queue for turns, in order of arrival; one for all evaluations of a process. */
export class Turns implements TurnGiver {
  /** Short work that is done before each turn: requests that came meanwhile would otherwise wait for a second one. */
  before: () => void = () => {};
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  readonly #waitingBehind: (() => void)[] = [];
  #began = Number.NEGATIVE_INFINITY;
  /** Whether a turn is under way, or others are served after a long one. */
  #isGoing = false;
  /** Whether the next turn was postponed for newly arrived work. */
  #isPutOff = false;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when the caller has its turn. */
  next(): Promise<void> {
    return this.#next(this.#waiting);
  }

  /** The turns that are left, for work without a waiting caller. */
  readonly behind: TurnGiver = { next: () => this.#next(this.#waitingBehind) };

  #next(line: (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      line.push(resolve);
      if (this.#isGoing) return;
      this.#isGoing = true;
      setImmediate(this.#give);
    });
  }

  readonly #give = (): void => {
    if (this.#waiting.length + this.#waitingBehind.length === 0) {
      this.#isGoing = false;
      return;
    }
    if (!this.#isPutOff && this.#takesLongBefore()) {
      this.#isPutOff = true;
      setImmediate(this.#give);
      return;
    }
    this.#isPutOff = false;
    this.#began = this.#now();
    (this.#waiting.shift() ?? this.#waitingBehind.shift())?.();
    setImmediate(this.#goOn);
  };

  /** Does the short work; if it was not short altogether, the event loop has its turn, once. */
  #takesLongBefore(): boolean {
    const began = this.#now();
    this.before();
    return this.#now() - began >= SLICE_MS;
  }

  /**
   * After a long turn, such as the reading of a large body, all other work has as much time: a request takes several steps, and each would wait for
   * another long turn.
   */
  readonly #goOn = (): void => {
    const took = this.#now() - this.#began;
    if (took < LONG_TURN_MS) this.#give();
    else setTimeout(this.#give, Math.min(took, MAX_STRETCH_MS));
  };
}
