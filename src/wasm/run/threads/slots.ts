/**
 * The place of a call on a thread. `slot`: it holds one of the pool's slots, as every call does at first. `long`: it has run for a while, or its
 * policy's calls time out, and it leaves the slots to others. `host`: it waits for the host, and holds neither.
 */
export type Place = "slot" | "long" | "host";

/** Most long calls for each slot: this many looping policies may each fill their part. A thread takes some MiB. */
const LONG_PER_SLOT = 4;
/** Most calls that wait for the host at a time: each holds a thread of some MiB. */
const MAX_HOST_CALLS = 32;
/** The same of one policy: when its host calls get no answer, other policies must still be able to make some. */
const MAX_HOST_CALLS_PER_POLICY = 24;

/** Counts calls on threads by place, in all and of each policy. */
export class Slots {
  readonly #counts: Record<Place, number> = { slot: 0, long: 0, host: 0 };
  readonly #byPolicy = { long: new Map<string, number>(), host: new Map<string, number>() };
  readonly #size: number;

  /** @param size number of slots */
  constructor(size: number) {
    this.#size = size;
  }

  /** Slots that are free. */
  get free(): number {
    return Math.max(0, this.#size - this.#counts.slot);
  }

  /** Calls that hold a slot. */
  get taken(): number {
    return this.#counts.slot;
  }

  /**
   * Whether a call of this policy may begin, or continue after an answer of the host, in that place. A policy with as many long calls as there are
   * slots begins no other one, so that its calls never hold all slots for long. Those that begin as long calls, because the last ones of their policy
   * timed out, have half of that each, and half of all places together.
   */
  mayEnter(place: "slot" | "long", policy: string): boolean {
    const long = this.#byPolicy.long.get(policy) ?? 0;
    return place === "slot"
      ? this.free > 0 && long < this.#size
      : this.#counts.long < (LONG_PER_SLOT * this.#size) / 2 && long < Math.max(1, Math.floor(this.#size / 2));
  }

  /** Whether a call that has run for a while may leave its slot to others. */
  get hasRoomForLong(): boolean {
    return this.#counts.long < LONG_PER_SLOT * this.#size;
  }

  /** Whether a call of this policy may leave its place while it waits for the host. */
  mayWaitForHost(policy: string): boolean {
    return this.#counts.host < MAX_HOST_CALLS && (this.#byPolicy.host.get(policy) ?? 0) < MAX_HOST_CALLS_PER_POLICY;
  }

  enter(place: Place, policy: string): void {
    this.#count(place, policy, 1);
  }

  leave(place: Place, policy: string): void {
    this.#count(place, policy, -1);
  }

  #count(place: Place, policy: string, change: number): void {
    this.#counts[place] += change;
    if (place === "slot") return;
    const policies = this.#byPolicy[place];
    const count = (policies.get(policy) ?? 0) + change;
    if (count > 0) policies.set(policy, count);
    else policies.delete(policy);
  }
}
