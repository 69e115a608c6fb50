/** How many threads are busy with what. */

/**
 * `regular`: one of the pool's slots. `slow`: has run for a while, or is expected to, and has left its slot. `parked`: waits for the host and needs
 * no slot.
 */
export type Lane = "regular" | "slow" | "parked";

/** Slow calls of one policy per regular slot. More than that, and its next calls wait. */
const SLOW_PER_POLICY = 1;
/** Slow calls in all, per regular slot. */
export const SLOW_IN_ALL = 2;
/** Calls that wait for the host at a time: each holds a thread of some MiB. */
const PARKED_IN_ALL = 32;

/** Counts threads by lane, and slow calls by policy. */
export class Lanes {
  private readonly counts: Record<Lane, number> = { regular: 0, slow: 0, parked: 0 };
  private readonly slowByPolicy = new Map<string, number>();

  private readonly most: Readonly<Record<Lane, number>>;

  /** @param size regular slots */
  constructor(private readonly size: number) {
    this.most = { regular: size, slow: SLOW_IN_ALL * size, parked: PARKED_IN_ALL };
  }

  /** Whether another thread may enter. */
  hasRoom(lane: Lane): boolean {
    return this.counts[lane] < this.most[lane];
  }

  /** Whether a policy has so many slow calls that its next ones must wait. */
  isFull(policy: string): boolean {
    return (this.slowByPolicy.get(policy) ?? 0) >= SLOW_PER_POLICY * this.size;
  }

  /** Slots that no thread occupies. */
  get free(): number {
    return Math.max(0, this.size - this.counts.regular);
  }

  /** Threads that can be busy at the same time. */
  get mostThreads(): number {
    return this.most.regular + this.most.slow + this.most.parked;
  }

  enter(lane: Lane, policy: string): void {
    this.counts[lane]++;
    if (lane === "slow") this.count(policy, 1);
  }

  leave(lane: Lane, policy: string): void {
    this.counts[lane]--;
    if (lane === "slow") this.count(policy, -1);
  }

  private count(policy: string, change: number): void {
    const count = (this.slowByPolicy.get(policy) ?? 0) + change;
    if (count > 0) this.slowByPolicy.set(policy, count);
    else this.slowByPolicy.delete(policy);
  }
}
