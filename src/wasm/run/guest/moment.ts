/**
 * The time and the random numbers that a call sees. They are fixed for the call, so that it has the same result wherever and however often it runs: a
 * call that failed on the main thread may run again, from its beginning, on another.
 */
import { createCipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-ctr";
/** Bytes of a seed that are themselves the first random bytes: hash maps ask for 16 and nothing more, and a cipher takes longer to make than they live. */
const AT_HAND_BYTES = 48;
const KEY_END = AT_HAND_BYTES + 32;
const SEED_BYTES = KEY_END + 16;
/** Random bytes are made in pieces of this size: a guest may want its whole memory full of them. */
const PIECE = new Uint8Array(64 * 1024);

/** Nanoseconds between two clock readings: a guest that waits for a time sees it come. */
const LOOK_NS = 1_000n;

/** Seeds that are made at a time: getting a few random bytes takes as long as some thousand. */
const SEEDS_AT_ONCE = 40;

/** Makes seeds. */
export class Seeds {
  #made = new Uint8Array();
  #used = 0;

  /** Another seed, whose bytes are used once. */
  next(): Uint8Array {
    if (this.#used === this.#made.length) {
      this.#made = randomBytes(SEED_BYTES * SEEDS_AT_ONCE);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += SEED_BYTES;
    return this.#made.subarray(from, this.#used);
  }
}

/** The parts of a {@link Moment}, for another thread. */
export interface MomentParts {
  /** The first clock reading. */
  readonly time?: StartTime;
  readonly seed?: Uint8Array;
}

/** A reading of the clocks. */
interface StartTime {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Microseconds since the machine's start, the same for all threads. */
  readonly monotonic: number;
}

/** The moment of a call. Its parts are made at first use; most guests never need them. */
export class Moment {
  #time: StartTime | undefined;
  #seed: Uint8Array | undefined;

  readonly #seeds: Seeds | undefined;

  /** @param parts the parts of another run of the same call */
  constructor(parts?: MomentParts, seeds?: Seeds) {
    this.#time = parts?.time;
    this.#seed = parts?.seed;
    this.#seeds = seeds;
  }

  /** The parts that were used so far. */
  get parts(): MomentParts {
    // A copy: a part of a larger buffer would be posted with all of it.
    return { ...(this.#time && { time: this.#time }), ...(this.#seed && { seed: this.#seed.slice() }) };
  }

  /** The begin of the call. */
  get time(): StartTime {
    this.#time ??= { wall: Date.now(), monotonic: Number(process.hrtime.bigint() / 1_000n) };
    return this.#time;
  }

  /** The seed of its random bytes. */
  get seed(): Uint8Array {
    this.#seed ??= this.#seeds?.next() ?? randomBytes(SEED_BYTES);
    return this.#seed;
  }
}

/** The moment as one run of a call sees it. The clock advances only with its readings and its sleep. */
export class MomentView {
  readonly #moment: Moment;
  /** Nanoseconds since the begin of the call. */
  #passed = 0n;
  #atHand = 0;
  #cipher: { update(bytes: Uint8Array): Uint8Array } | undefined;

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** Milliseconds since 1970 at the call's beginning. */
  get began(): number {
    return this.#moment.time.wall;
  }

  /** Nanoseconds since 1970. */
  wall(): bigint {
    this.#passed += LOOK_NS;
    return BigInt(this.#moment.time.wall) * 1_000_000n + this.#passed;
  }

  /** Nanoseconds that never go back, not from a call to a later one either. */
  monotonic(): bigint {
    this.#passed += LOOK_NS;
    return BigInt(this.#moment.time.monotonic) * 1_000n + this.#passed;
  }

  /** Notes that the run has slept for this many nanoseconds. */
  slept(nanoseconds: bigint): void {
    this.#passed += nanoseconds;
  }

  /**
   * Fills a part of a guest's memory with random bytes.
   * @param work charges every piece before it is made, in bytes
   */
  random(target: Uint8Array, work: (bytes: number) => void): void {
    const { seed } = this.#moment;
    const first = Math.min(target.length, AT_HAND_BYTES - this.#atHand);
    target.set(seed.subarray(this.#atHand, this.#atHand + first));
    this.#atHand += first;
    for (let done = first; done < target.length; done += PIECE.length) {
      const length = Math.min(PIECE.length, target.length - done);
      work(length);
      this.#cipher ??= createCipheriv(CIPHER, seed.subarray(AT_HAND_BYTES, KEY_END), seed.subarray(KEY_END));
      target.set(this.#cipher.update(PIECE.subarray(0, length)), done);
    }
  }
}
