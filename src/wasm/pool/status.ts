/** Numbers for metrics. Counters count from the pool's start. */
export interface PoolStatus {
  readonly threads: number;
  readonly idle: number;
  readonly running: number;
  readonly waiting: number;
  /** Threads replaced after a crash, or because they could not be interrupted. */
  readonly recycled: number;
  readonly timeouts: number;
  readonly crashes: number;
}
