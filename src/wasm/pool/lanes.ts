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
/** Those of one policy: when what it asks for does not answer, the others' calls must still find a place to wait. */
const PARKED_PER_POLICY = 24;

/** Counts threads by lane, and those outside of the regular slots by policy. */
export class Lanes {
  readonly #counts: Record<Lane, number> = { regular: 0, slow: 0, parked: 0 };
  readonly #byPolicy = { slow: new Map<string, number>(), parked: new Map<string, number>() };
  readonly #most: Readonly<Record<Lane, number>>;
  readonly #size: number;

  /** @param size regular slots */
  constructor(size: number) {
    this.#size = size;
    this.#most = { regular: size, slow: SLOW_IN_ALL * size, parked: PARKED_IN_ALL };
  }

  /** Whether another thread may enter. */
  hasRoom(lane: Lane): boolean {
    return this.#counts[lane] < this.#most[lane];
  }

  /** Whether a policy has so many slow calls that its next ones must wait. */
  isFull(policy: string): boolean {
    return (this.#byPolicy.slow.get(policy) ?? 0) >= SLOW_PER_POLICY * this.#size;
  }

  /** Whether a call of this policy may wait for the host without a slot. */
  mayPark(policy: string): boolean {
    return this.hasRoom("parked") && (this.#byPolicy.parked.get(policy) ?? 0) < PARKED_PER_POLICY;
  }

  /** Slots that no thread occupies. */
  get free(): number {
    return Math.max(0, this.#size - this.#counts.regular);
  }

  /** Threads that can be busy at the same time. */
  get mostThreads(): number {
    return this.#most.regular + this.#most.slow + this.#most.parked;
  }

  enter(lane: Lane, policy: string): void {
    this.#count(lane, policy, 1);
  }

  leave(lane: Lane, policy: string): void {
    this.#count(lane, policy, -1);
  }

  #count(lane: Lane, policy: string, change: number): void {
    this.#counts[lane] += change;
    if (lane === "regular") return;
    const policies = this.#byPolicy[lane];
    const count = (policies.get(policy) ?? 0) + change;
    if (count > 0) policies.set(policy, count);
    else policies.delete(policy);
  }
}
