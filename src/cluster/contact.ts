/** Whether the API server answers. While it doesn't everything goes on with what is known, and that is said once. */
import type { Clock } from "../data/clock.js";
import { AnswerTooLarge, ApiError, ResourceError, reasonOf } from "../kubernetes/client/errors.js";
import type { Logger } from "../telemetry/logger.js";

/** When the API server answered last. */
export class Contact {
  readonly #clock: Clock;
  readonly #log: Logger;
  #last: number | undefined;
  /** Since when it is away. */
  #away: number | undefined;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Seconds since 1970; 0: never. */
  get timestamp(): number {
    return this.#last === undefined ? 0 : (this.#clock.wall() - (this.#clock.now() - this.#last)) / 1000;
  }

  /** Whether it is away, as far as anybody has noticed. */
  get lost(): boolean {
    return this.#away !== undefined;
  }

  /** It has answered. */
  made(): void {
    this.#last = this.#clock.now();
    if (this.#away === undefined) return;
    const seconds = Math.round((this.#last - this.#away) / 1000);
    this.#away = undefined;
    this.#log.info("the API server answers again", { away_seconds: seconds });
  }

  /** Something that was asked has failed: an answer it is all the same when the API server itself refuses, or says more than is taken. */
  saw(error: unknown): void {
    const isTooMuch = error instanceof AnswerTooLarge || error instanceof ResourceError;
    if (isTooMuch || (error instanceof ApiError && error.status < 500)) this.made();
    else this.#missed(error);
  }

  #missed(error: unknown): void {
    if (this.#away !== undefined) return;
    this.#away = this.#clock.now();
    this.#log.warn("the API server does not answer: policies stay as they are until it does", {
      reason: reasonOf(error),
    });
  }
}
