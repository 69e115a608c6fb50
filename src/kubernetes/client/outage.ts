/** Notices that the API server has stopped answering, and when it is ready again: then everything that waits for another attempt goes on at once. */
import { SETTLING_MS, WATCH_READY_MS } from "./limits.js";

/** Refused questions in a row after which an API server that answers counts as ready: some never tell an account. */
const MOST_REFUSALS = 20;

/** The API server's absence, as one client sees it. */
export class Outage {
  readonly #isReady: () => Promise<boolean | undefined>;
  readonly #calls = new Set<() => void>();
  #asking = false;
  #away = false;
  #ended = false;
  #refusals = 0;
  #cancel = (): void => {};
  #returnedAt = Number.NEGATIVE_INFINITY;

  /** @param isReady asks the API server whether it is ready; undefined: it answers, and refuses to tell. Never rejects */
  constructor(isReady: () => Promise<boolean | undefined>) {
    this.#isReady = isReady;
  }

  /** When it was ready again, in monotonic milliseconds; minus infinity: it was never away. */
  get returnedAt(): number {
    return this.#returnedAt;
  }

  /** Whether it is away, or has come back only now: it may refuse what it allows as soon as it has read its roles. */
  get settling(): boolean {
    return this.#away || performance.now() - this.#returnedAt < SETTLING_MS;
  }

  /** Must be called when a request has found no server. One that is ready all the same has only dropped a connection. */
  lost(): void {
    if (this.#asking || this.#ended) return;
    this.#asking = true;
    void this.#ask();
  }

  /**
   * Calls back whenever it is ready again.
   * @returns removes the callback
   */
  over(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  /** Waits, until it is ready again at most. @returns whether it is */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isOver: boolean): void => {
        clearTimeout(timer);
        forget();
        signal.removeEventListener("abort", stopped);
        resolve(isOver);
      };
      const stopped = (): void => done(false);
      const timer = setTimeout(stopped, milliseconds);
      const forget = this.over(() => done(true));
      signal.addEventListener("abort", stopped, { once: true });
      if (signal.aborted) stopped();
    });
  }

  /** Ends asking. */
  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  async #ask(): Promise<void> {
    const isReady = await this.#isReady();
    if (this.#ended) return;
    this.#refusals = isReady === undefined ? this.#refusals + 1 : 0;
    if (isReady !== true && this.#refusals < MOST_REFUSALS) {
      this.#away = true;
      const timer = setTimeout(() => void this.#ask(), WATCH_READY_MS * (0.5 + Math.random()));
      timer.unref();
      this.#cancel = () => clearTimeout(timer);
      return;
    }
    this.#asking = false;
    this.#refusals = 0;
    if (!this.#away) return;
    this.#away = false;
    this.#returnedAt = performance.now();
    for (const call of [...this.#calls]) call();
  }
}
