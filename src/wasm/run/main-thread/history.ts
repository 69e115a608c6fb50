/** The history of a policy's calls, which decides on the thread of its next one. */

/** Weight of a call that failed on the main thread, beside one that answered there. */
const FAILURE_WEIGHT = 16;
/** Weight at which its calls begin on threads: two failures in a row, or one in sixteen calls for long. */
const TOO_MUCH = 2 * FAILURE_WEIGHT;
/** Calls on threads before the main thread is tried again, at first. */
const FIRST_PROOF = 8;
/** The same at most: a policy that fails each time costs the main thread a few milliseconds in this many calls. */
const LONGEST_PROOF = 4_096;
/** Answers on the main thread in a row after which earlier failures no longer count. */
const FORGOTTEN_AFTER = 1_024;
/** Weight of a new duration in the usual one. */
const NEWEST_SHARE = 1 / 8;
/** Longest duration that counts there. */
const LONGEST_MS = 6;
/**
 * Highest duration that counts, as a multiple of the usual one: a call that waited for the processor, a garbage collection or the compiler says
 * little about the policy, and moving to threads for it would cost every call two switches. If most calls take longer, a dozen of them show it.
 */
const OUTLIER_FACTOR = 2;
/** Milliseconds that a policy's calls usually take at most to begin on the main thread. */
const SHORT_MS = 2;
/** Assumed duration of a policy's calls when they leave the main thread, until more is known. */
const LONG_MS = 4;

/** One policy's history. */
export class CallHistory {
  /** Calls still to be made on threads; 0: the next call begins on the main thread. */
  #wanted: number;
  /** Calls on threads after the next failure. */
  #proof = FIRST_PROOF;
  #weight = 0;
  #answers = 0;
  /** Whether those calls on threads were short. */
  #wasShort = false;
  #usual = 0;

  /** @param wanted calls on threads before the first on the main thread; Infinity: none ever begins there */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** Whether the next call begins on the main thread. */
  get isInline(): boolean {
    return this.#wanted === 0;
  }

  /** Whether it is known to end: it has answered on the main thread since it last failed there, or was short on threads before it came here. */
  get isProved(): boolean {
    return this.#answers > 0 || this.#wasShort;
  }

  /** Milliseconds that a call usually takes. */
  get usualMs(): number {
    return this.#usual;
  }

  /** The counted duration of a call on the main thread, in milliseconds. */
  counted(milliseconds: number): number {
    return Math.min(milliseconds, Math.max(SHORT_MS, OUTLIER_FACTOR * this.#usual));
  }

  /** Notes an answer on the main thread. @param milliseconds as {@link counted} */
  answered(milliseconds: number): void {
    this.#took(milliseconds);
    if (this.#usual > SHORT_MS) {
      // The duration of its calls shows on threads as well: a few of them are enough each time.
      this.#leave(FIRST_PROOF);
      return;
    }
    if (this.#weight > 0) this.#weight--;
    this.#answers++;
    if (this.#answers === FORGOTTEN_AFTER) this.#proof = FIRST_PROOF;
  }

  /** Notes the time for restoring memory after a call; the next call decides whether both together were short. */
  tidied(milliseconds: number): void {
    this.#usual += Math.min(this.counted(milliseconds), LONGEST_MS) * NEWEST_SHARE;
  }

  /** Notes a call on the main thread without an answer. */
  failed(): void {
    this.#answers = 0;
    this.#weight += FAILURE_WEIGHT;
    if (this.#weight < TOO_MUCH) return;
    this.#leave(this.#proof);
    this.#proof = Math.min(2 * this.#proof, LONGEST_PROOF);
  }

  /**
   * Notes a call on a thread.
   * @param milliseconds of computing; undefined when it could not have answered on the main thread however short it was
   */
  onThread(milliseconds: number | undefined): void {
    this.#took(milliseconds ?? LONGEST_MS);
    if (this.#wanted === 0 || this.#wanted === Number.POSITIVE_INFINITY) return;
    if (this.#wanted > 1) this.#wanted--;
    else if (this.#usual <= SHORT_MS) {
      this.#wanted = 0;
      this.#wasShort = true;
    }
  }

  #took(milliseconds: number): void {
    this.#usual += (Math.min(milliseconds, LONGEST_MS) - this.#usual) * NEWEST_SHARE;
  }

  #leave(wanted: number): void {
    this.#answers = 0;
    this.#wasShort = false;
    this.#weight = 0;
    this.#usual = LONG_MS;
    this.#wanted = wanted;
  }
}
