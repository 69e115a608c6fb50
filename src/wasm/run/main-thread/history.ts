/** What a policy's calls came to so far, which says where its next one begins. */

/** What a call counts that was tried on the main thread in vain, beside one that answered there. */
const FAILURE_WEIGHT = 16;
/** With this much its calls begin on threads: two failures in a row, or one in sixteen calls for long. */
const TOO_MUCH = 2 * FAILURE_WEIGHT;
/** Calls on threads before the main thread is tried again, at first. */
const FIRST_PROOF = 8;
/** And at most: who fails each time costs the main thread a few milliseconds in so many calls. */
const LONGEST_PROOF = 4_096;
/** Answers on the main thread in a row after which former failures are forgotten. */
const FORGOTTEN_AFTER = 1_024;
/** How much a new duration counts in the usual one. */
const NEWEST_SHARE = 1 / 8;
/** The longest that counts there. */
const LONGEST_MS = 6;
/**
 * A call on the main thread counts at most so many times what calls usually take: one that had to wait for the processor, for a garbage collection or for the engine that compiles
 * says little about the policy, and to be sent to threads for it would cost every call two switches. When most calls take longer, it shows in a dozen.
 */
const OUTLIER_FACTOR = 2;
/** Milliseconds that a policy's calls may usually take where they begin on the main thread. */
const SHORT_MS = 2;
/** What a policy's calls are taken to take when they leave the main thread, until more is known. */
const LONG_MS = 4;

/** One policy's history. */
export class CallHistory {
  /** Calls on threads that are still wanted; 0: the next call begins on the main thread. */
  #wanted: number;
  /** How many will be wanted after the next failure. */
  #proof = FIRST_PROOF;
  #weight = 0;
  #answers = 0;
  /** Whether the calls on threads that were wanted were short. */
  #wasShort = false;
  #usual = 0;

  /** @param wanted calls on threads before the first on the main thread; Infinity: there is never one there */
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

  /** How many milliseconds a call usually takes. */
  get usualMs(): number {
    return this.#usual;
  }

  /** How long a call on the main thread counts, in milliseconds. */
  counted(milliseconds: number): number {
    return Math.min(milliseconds, Math.max(SHORT_MS, OUTLIER_FACTOR * this.#usual));
  }

  /** A call has answered on the main thread. @param milliseconds as they are {@link counted} */
  answered(milliseconds: number): void {
    this.#took(milliseconds);
    if (this.#usual > SHORT_MS) {
      // How long its calls take shows on threads, too: no more of them are needed each time.
      this.#leave(FIRST_PROOF);
      return;
    }
    if (this.#weight > 0) this.#weight--;
    this.#answers++;
    if (this.#answers === FORGOTTEN_AFTER) this.#proof = FIRST_PROOF;
  }

  /** The main thread has brought back what a call had changed; its next call tells whether both together were short. */
  tidied(milliseconds: number): void {
    this.#usual += Math.min(this.counted(milliseconds), LONGEST_MS) * NEWEST_SHARE;
  }

  /** A call on the main thread came to nothing. */
  failed(): void {
    this.#answers = 0;
    this.#weight += FAILURE_WEIGHT;
    if (this.#weight < TOO_MUCH) return;
    this.#leave(this.#proof);
    this.#proof = Math.min(2 * this.#proof, LONGEST_PROOF);
  }

  /**
   * A call has run on a thread.
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
