/**
 * `regular`: one of the pool's slots. `trial`: a call of a policy of which nothing is known yet; it takes no regular slot. `slow`: the call has run for a while, or is expected to, and has left its slot. `hostCall`: the call
 * waits for the host and needs no slot of another kind.
 */
export type SlotKind = "regular" | "trial" | "slow" | "hostCall";

/** Slow calls of one policy, for each regular slot. Beyond that its next calls wait. */
const MAX_SLOW_PER_POLICY = 1;
/**
 * Slow calls in all, for each regular slot: with two slots eight policies that loop leave room for nobody else's slow calls until their time is up. A
 * thread takes some 8 MiB.
 */
export const MAX_SLOW = 4;
/** Calls that wait for the host at a time: each holds a thread of some MiB. */
const MAX_HOST_CALLS = 32;
/** Those of one policy: when what it asks for does not answer, other policies must still be able to ask the host. */
const MAX_HOST_CALLS_PER_POLICY = 24;

/** Counts busy threads by kind of slot, and slow and waiting ones also by policy. */
export class Slots {
  readonly #counts: Record<SlotKind, number> = { regular: 0, trial: 0, slow: 0, hostCall: 0 };
  readonly #byPolicy = { slow: new Map<string, number>(), hostCall: new Map<string, number>() };
  readonly #max: Readonly<Record<SlotKind, number>>;
  readonly #size: number;

  /** @param size number of regular slots */
  constructor(size: number) {
    this.#size = size;
    this.#max = { regular: size, trial: size, slow: MAX_SLOW * size, hostCall: MAX_HOST_CALLS };
  }

  /** Whether a slot of this kind is free. */
  hasRoom(kind: SlotKind): boolean {
    return this.#counts[kind] < this.#max[kind];
  }

  /** Whether a policy has so many slow calls that its next ones must wait. */
  hasMaxSlow(policy: string): boolean {
    return (this.#byPolicy.slow.get(policy) ?? 0) >= MAX_SLOW_PER_POLICY * this.#size;
  }

  /** Whether a call of this policy may give up its regular slot while it waits for the host. */
  mayWaitForHost(policy: string): boolean {
    return this.hasRoom("hostCall") && (this.#byPolicy.hostCall.get(policy) ?? 0) < MAX_HOST_CALLS_PER_POLICY;
  }

  /** Regular slots that are free. */
  get free(): number {
    return Math.max(0, this.#size - this.#counts.regular);
  }

  /**
   * Whether a policy of which nothing is known may have a thread. One may always be tried; more of them only where a thread is left for the others,
   * and while no call is slow: several that loop at once would take all processors.
   * @param idle threads that can be used at once
   */
  mayTry(idle: number): boolean {
    return this.#counts.trial === 0 || (this.#counts.slow === 0 && this.hasRoom("trial") && idle > 1);
  }

  /** Threads that can be busy at the same time. */
  get maxThreads(): number {
    return this.#max.regular + this.#max.trial + this.#max.slow + this.#max.hostCall;
  }

  enter(kind: SlotKind, policy: string): void {
    this.#count(kind, policy, 1);
  }

  leave(kind: SlotKind, policy: string): void {
    this.#count(kind, policy, -1);
  }

  #count(kind: SlotKind, policy: string, change: number): void {
    this.#counts[kind] += change;
    if (kind === "regular" || kind === "trial") return;
    const policies = this.#byPolicy[kind];
    const count = (policies.get(policy) ?? 0) + change;
    if (count > 0) policies.set(policy, count);
    else policies.delete(policy);
  }
}
