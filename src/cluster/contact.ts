/** Whether the API server answers. While it does not, everything continues with the known state, and that is logged once. */
import type { Clock } from "../data/clock.js";
import { AnswerTooLarge, ApiError, ResourceError, reasonOf } from "../kubernetes/client/errors.js";
import type { Logger } from "../telemetry/logger.js";

/** The time of the API server's last answer. */
export class Contact {
  readonly #clock: Clock;
  readonly #log: Logger;
  #last: number | undefined;
  /** The time since which it does not answer. */
  #away: number | undefined;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The time of the last answer in seconds since 1970; 0: never. */
  get timestamp(): number {
    return this.#last === undefined ? 0 : (this.#clock.wall() - (this.#clock.now() - this.#last)) / 1000;
  }

  /** Whether it does not answer, as far as that was noticed. */
  get lost(): boolean {
    return this.#away !== undefined;
  }

  /** Must be called after an answer. */
  made(): void {
    this.#last = this.#clock.now();
    if (this.#away === undefined) return;
    const seconds = Math.round((this.#last - this.#away) / 1000);
    this.#away = undefined;
    this.#log.info("the API server answers again", { away_seconds: seconds });
  }

  /** Must be called after a failed request: a refusal by the API server itself, or too large an answer, counts as an answer, too. */
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
