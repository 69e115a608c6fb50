/** Figures of the pool, for metrics. Counters count from its start. */
export interface PoolStatus {
  readonly threads: number;
  /** Threads that wait for a call. */
  readonly idle: number;
  /** Calls on threads, including those whose callers already have an answer. */
  readonly running: number;
  /** Calls that wait for a thread. */
  readonly waiting: number;
  readonly timeouts: number;
  /** Threads that ended by themselves. */
  readonly crashes: number;
}
