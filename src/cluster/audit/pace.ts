/** How fast the audit goes: at most a part of a core while somebody else has use for it. */
import { BUSY_SHARE, MAX_REST_MS, STRETCH_MS } from "./audit-limits.js";

/** Lets others go first. */
export interface Pace {
  /** To be called between pieces of work of some milliseconds; resolves when it may go on, `undefined`: at once. */
  step(): Promise<void> | undefined;
}

/** As fast as it goes, with a look at the event loop now and then: for a command. */
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

/** What a rationed pace looks at. */
export interface PaceOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds of processor time that this process has used. */
  readonly cpu: () => number;
  /** Whether requests come. */
  readonly isBusy: () => boolean;
  /** Resolves after so many milliseconds. */
  readonly rest: (milliseconds: number) => Promise<void>;
}

/** No more than a part of a core over any second while requests come: work of some milliseconds, then rest. */
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

  /** What was waited for counts as rest, but an hour of it is no leave to compute for minutes. */
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
    // What was used during the rest, by answers that came, is owed next.
    this.#cpu = spent;
  }
}
