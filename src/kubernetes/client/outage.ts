/** Notices that the API server has stopped answering, and when it is ready again: then everything that waits for another attempt goes on at once. */
import { SETTLING_MS, WATCH_READY_MS } from "./limits.js";

/** An answer of the API server about itself, or none. */
export type Readiness = "away" | "refuses" | "starts" | "ready";

/** Refused questions in a row after which an API server that answers counts as ready: some never tell an account. */
const MOST_REFUSALS = 20;

/** The API server's absence, as one client sees it. */
export class Outage {
  readonly #isReady: () => Promise<Readiness>;
  readonly #calls = new Set<() => void>();
  #asking = false;
  #away = false;
  #last: Readiness = "ready";
  #ended = false;
  #refusals = 0;
  #cancel = (): void => {};
  #returnedAt = Number.NEGATIVE_INFINITY;

  /** @param isReady asks the API server whether it is ready; never rejects */
  constructor(isReady: () => Promise<Readiness>) {
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
   * Calls back whenever it answers again, and when it is ready.
   * @returns removes the callback
   */
  over(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  /** Waits, until it answers again at most. @returns whether it does */
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
    const now = await this.#isReady();
    if (this.#ended) return;
    this.#refusals = now === "refuses" ? this.#refusals + 1 : 0;
    const isNews = now !== this.#last;
    this.#last = now;
    if (now !== "ready" && this.#refusals < MOST_REFUSALS) {
      this.#away = true;
      const timer = setTimeout(() => void this.#ask(), WATCH_READY_MS * (0.5 + Math.random()));
      timer.unref();
      this.#cancel = () => clearTimeout(timer);
      // It may already answer what is waited for.
      if (now === "starts" && isNews) this.#tell();
      return;
    }
    this.#asking = false;
    this.#refusals = 0;
    if (!this.#away) return;
    this.#away = false;
    this.#returnedAt = performance.now();
    this.#tell();
  }

  #tell(): void {
    for (const call of [...this.#calls]) call();
  }
}
