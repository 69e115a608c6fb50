/** The pace of the audit: at most a part of a core while requests need it. */
import { BUSY_SHARE, MAX_REST_MS, STRETCH_MS } from "./audit-limits.js";

/** Gives way to other work. */
export interface Pace {
  /** Called between pieces of work of some milliseconds; resolves when the work may continue; `undefined`: at once. */
  step(): Promise<void> | undefined;
}

/** Full speed, with turns of the event loop from time to time: for a command. */
export class FullPace implements Pace {
  readonly #now: () => number;
  #since: number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  step(): Promise<void> | undefined {
    if (this.#now() - this.#since < STRETCH_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#since = this.#now();
        resolve();
      });
    });
  }
}

/** Inputs of a rationed pace. */
export interface PaceOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds of processor time that this process has used. */
  readonly cpu: () => number;
  /** Whether requests come. */
  readonly isBusy: () => boolean;
  /** Resolves after this many milliseconds. */
  readonly rest: (milliseconds: number) => Promise<void>;
}

/** At most a part of a core over any second while requests come: work of some milliseconds, then rest. */
export class RationedPace implements Pace {
  readonly #options: PaceOptions;
  #began: number;
  #cpu: number;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#began = options.now();
    this.#cpu = options.cpu();
  }

  step(): Promise<void> | undefined {
    const { now, cpu } = this.#options;
    if (now() - this.#began < STRETCH_MS && cpu() - this.#cpu < STRETCH_MS) return undefined;
    return this.#pause();
  }

  /** Rests. Time of waiting counts as rest, but an hour of it does not permit minutes of computing. */
  async #pause(): Promise<void> {
    const { now, cpu, isBusy, rest } = this.#options;
    const spent = cpu();
    const used = spent - this.#cpu;
    const rested = Math.min(now() - this.#began, used + MAX_REST_MS);
    let left = isBusy() ? Math.max(used / BUSY_SHARE - rested, 0) : 0;
    do {
      const pause = Math.min(left, MAX_REST_MS);
      await rest(pause);
      left -= pause;
    } while (left > 0 && isBusy());
    this.#began = now();
    // Processor time used during the rest, by arriving answers, counts for the next one.
    this.#cpu = spent;
  }
}
