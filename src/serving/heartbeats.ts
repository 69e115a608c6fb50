/**
 * Which serving processes hang. Each says every second that its main thread turns; who is silent for too long is stuck, stopped or starved. Time counts
 * only as far as the process that listens was awake itself: after it was stopped, or the whole machine suspended, nobody is to blame.
 */

/** How often processes are heard, and silence is looked at. */
export const BEAT_EVERY_MS = 1000;
/** Silence after which readiness fails: requests that came to this process wait. Far above what a request may hold the main thread (100 ms). */
export const SUSPECT_AFTER_MS = 3000;
/** Silence after which a process is replaced: the API server's default patience with a webhook, and more than a busy machine starves anybody. */
export const HUNG_AFTER_MS = 10_000;
/** The same while policies are loaded: ten thousand of them are compiled in a minute on a slow machine. */
export const LOADING_HUNG_AFTER_MS = 120_000;

/** What a process says of itself. */
export class Beats {
  readonly #tell: (loading: boolean) => void;
  /** How many sets of policies are being loaded: one that was given up may still be under way beside the next. */
  #loads = 0;

  /** @param tell says that this process lives, and whether it loads policies */
  constructor(tell: (loading: boolean) => void) {
    this.#tell = tell;
  }

  /** To be called every {@link BEAT_EVERY_MS}. */
  beat(): void {
    this.#tell(this.#loads > 0);
  }

  /** Loads policies. Beginning and end are told at once: a process that is stopped must not pass for one that loads. */
  async during<T>(load: () => Promise<T>): Promise<T> {
    this.#loads += 1;
    this.beat();
    try {
      return await load();
    } finally {
      this.#loads -= 1;
      this.beat();
    }
  }
}

interface Pulse {
  loading: boolean;
  /** Milliseconds without a word. */
  silent: number;
}

/** Listens to processes, which are told apart by any value. */
export class Heartbeats<P> {
  readonly #clock: () => number;
  readonly #pulses = new Map<P, Pulse>();
  #looked: number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#looked = clock();
  }

  /** Listens to a process that was just started, and loads. */
  watch(process: P): void {
    this.#pulses.set(process, { loading: true, silent: 0 });
  }

  /** Listens no more. */
  forget(process: P): void {
    this.#pulses.delete(process);
  }

  /** A process lives. */
  heard(process: P, loading: boolean): void {
    const pulse = this.#pulses.get(process);
    if (pulse === undefined) return;
    pulse.silent = 0;
    pulse.loading = loading;
  }

  /** To be called every {@link BEAT_EVERY_MS}. Returns the processes that hang. */
  look(): P[] {
    const now = this.#clock();
    // What is longer than the interval was spent asleep: what was said meanwhile is still to be heard.
    const awake = Math.min(now - this.#looked, BEAT_EVERY_MS);
    this.#looked = now;
    const hung: P[] = [];
    for (const [process, pulse] of this.#pulses) {
      pulse.silent += awake;
      if (pulse.silent >= (pulse.loading ? LOADING_HUNG_AFTER_MS : HUNG_AFTER_MS)) hung.push(process);
    }
    return hung;
  }

  /** Whether a process has been silent for so long that requests wait for it. Loading may take its time. */
  suspect(process: P): boolean {
    const pulse = this.#pulses.get(process);
    return pulse !== undefined && !pulse.loading && pulse.silent >= SUSPECT_AFTER_MS;
  }
}
