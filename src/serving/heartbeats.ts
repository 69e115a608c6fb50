/**
 * Finds serving processes that hang. Each sends a beat every second from its main thread; a process without one for too long is stuck, stopped or
 * starved. Time counts only while the listening process was awake itself: after it was stopped, or the whole machine suspended, no process counts as
 * hanging.
 */

/** Interval of beats, and of checks for silence. */
export const BEAT_EVERY_MS = 1000;
/** Silence after which readiness fails: requests to this process wait. Far above the time that a request may hold the main thread (100 ms). */
export const SUSPECT_AFTER_MS = 3000;
/** Silence after which a process is replaced: the API server's default time-out of a webhook, and longer than a busy machine starves a process. */
export const HUNG_AFTER_MS = 10_000;
/** The same while policies are loaded: ten thousand of them are compiled in a minute on a slow machine. */
export const LOADING_HUNG_AFTER_MS = 120_000;

/** The beats of this process. */
export class Beats {
  readonly #tell: (loading: boolean) => void;
  /** Number of sets of policies being loaded: an abandoned one may still be under way beside the next. */
  #loads = 0;

  /** @param tell sends a beat, with whether this process loads policies */
  constructor(tell: (loading: boolean) => void) {
    this.#tell = tell;
  }

  /** Sends a beat; called every {@link BEAT_EVERY_MS}. */
  beat(): void {
    this.#tell(this.#loads > 0);
  }

  /** Loads policies. Start and end are sent at once: a stopped process must not pass for one that loads. */
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
  /** Milliseconds without a beat. */
  silent: number;
}

/** Listens to processes, which any value may identify. */
export class Heartbeats<P> {
  readonly #clock: () => number;
  readonly #pulses = new Map<P, Pulse>();
  #looked: number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#looked = clock();
  }

  /** Listens to a process that was just started, and loads policies. */
  watch(process: P): void {
    this.#pulses.set(process, { loading: true, silent: 0 });
  }

  /** Stops listening to a process. */
  forget(process: P): void {
    this.#pulses.delete(process);
  }

  /** Notes a beat of a process. */
  heard(process: P, loading: boolean): void {
    const pulse = this.#pulses.get(process);
    if (pulse === undefined) return;
    pulse.silent = 0;
    pulse.loading = loading;
  }

  /** Returns the processes that hang; called every {@link BEAT_EVERY_MS}. */
  look(): P[] {
    const now = this.#clock();
    // Time beyond the interval was spent asleep: beats of that time are still to be read.
    const awake = Math.min(now - this.#looked, BEAT_EVERY_MS);
    this.#looked = now;
    const hung: P[] = [];
    for (const [process, pulse] of this.#pulses) {
      pulse.silent += awake;
      if (pulse.silent >= (pulse.loading ? LOADING_HUNG_AFTER_MS : HUNG_AFTER_MS)) hung.push(process);
    }
    return hung;
  }

  /** Whether a process has been silent for so long that requests wait for it. Loading may take longer. */
  suspect(process: P): boolean {
    const pulse = this.#pulses.get(process);
    return pulse !== undefined && !pulse.loading && pulse.silent >= SUSPECT_AFTER_MS;
  }
}
