/** A clock for tests. */
import type { Clock } from "../../src/data/clock.js";

/** 2026-01-02 03:04:05.678 UTC. */
export const WALL = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();

  now(): number {
    return this.#now;
  }

  wall(): number {
    return WALL + this.#now;
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.#now + milliseconds, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many calls are still to come. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves on; what is due is called in order. */
  move(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
    }
    this.#now = end;
  }
}
