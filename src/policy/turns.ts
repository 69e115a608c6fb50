/**
 * Taking turns on the main thread: an evaluation that has held it for a while waits here, and goes on when requests that came meanwhile have been
 * looked at. One goes on per turn of the event loop, however many wait: together they would hold it as long as one that never waits.
 */

/** Nothing that a request brings holds the main thread for longer at a stretch: others' requests, probes and deadlines wait meanwhile. */
const MAX_STRETCH_MS = 100;

/** Milliseconds that an evaluation works before it lets others have their turn. */
export const SLICE_MS = 10;

/**
 * Milliseconds that a part of an expression may take that nothing interrupts, such as a call, and one as a whole where nobody else has a turn; it has timed out
 * then. The API server's limits for what an expression may cost are meant to keep it within a tenth of a second, too.
 */
export const EXPRESSION_STRETCH_MS = MAX_STRETCH_MS - SLICE_MS;

/** Milliseconds from which a turn counts as long: what comes in pieces is cut into shorter ones, and an expression goes on in steps. */
export const LONG_TURN_MS = 2 * SLICE_MS;

/** Gives turns. */
export interface TurnGiver {
  /** Resolves when it is one's turn. */
  next(): Promise<void>;
}

/** Who waits for a turn, in order of arrival. One for all evaluations of a process. */
export class Turns implements TurnGiver {
  /** Done before each turn: what has come meanwhile and is short, which would else wait for a second one. */
  before: () => void = () => {};
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  readonly #waitingBehind: (() => void)[] = [];
  #began = Number.NEGATIVE_INFINITY;
  /** Whether a turn is being given, or others have theirs behind a long one. */
  #isGoing = false;
  /** Whether the next turn has been put off for what came meanwhile. */
  #isPutOff = false;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when it is one's turn. */
  next(): Promise<void> {
    return this.#next(this.#waiting);
  }

  /** The turns that are left: for what nobody waits for. */
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

  /** Does what is short; when together it was not, the event loop has its turn, once. */
  #takesLongBefore(): boolean {
    const began = this.#now();
    this.before();
    return this.#now() - began >= SLICE_MS;
  }

  /**
   * After a long turn, such as the reading of a large body, everybody else has as much time: a request takes several steps, and each would wait for
   * another long turn.
   */
  readonly #goOn = (): void => {
    const took = this.#now() - this.#began;
    if (took < LONG_TURN_MS) this.#give();
    else setTimeout(this.#give, Math.min(took, MAX_STRETCH_MS));
  };
}
