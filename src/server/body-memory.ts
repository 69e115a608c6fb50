/**
 * Limits the memory of unfinished bodies together. Their clients decide how long they take, within the time limit of a request, so that many of them together
 * could take all memory.
 */

/** Their share of a server's memory: as much again is needed for their values, and policies need the rest. */
const MEMORY_SHARE = 1 / 8;
/**
 * Most bytes for all processes of a server, however much memory there is: 48 of the largest bodies by default, where an API server has a few under way. Refused
 * ones are collected late, so that twice as much is taken for a moment.
 */
const MOST_BYTES = 96 * 1024 * 1024;
/** Number of the largest bodies that fit in any case. */
const LEAST_BODIES = 2;

/**
 * Bytes that unfinished bodies may take in one process.
 * @param memory bytes that the server may use
 * @param processes number of processes that answer requests, and share it
 * @param bodyLimit most bytes of one body
 */
export const bodyShare = (memory: number, processes: number, bodyLimit: number): number =>
  Math.max(Math.floor(Math.min(memory * MEMORY_SHARE, MOST_BYTES) / processes), LEAST_BODIES * bodyLimit);

/** An unfinished body that is counted. */
export interface CountedBody {
  /** Adds bytes; false: there is no room for a body of this size, and it must be refused. */
  grow(bytes: number): boolean;
  /** Must be called when it has ended, or is given up. A second call does nothing. */
  leave(): void;
}

/** Counts the unfinished bodies of a process. */
export class BodyMemory {
  readonly #most: number;
  #bytes = 0;
  #bodies = 0;

  /** @param most bytes; see {@link bodyShare} */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all unfinished bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins to count one, at its first bytes. */
  begin(): CountedBody {
    let own = 0;
    let counts = true;
    this.#bodies += 1;
    return {
      grow: (bytes) => {
        own += bytes;
        this.#bytes += bytes;
        if (this.#bytes <= this.#most) return true;
        // Small ones fit beside any number of large ones: a body above its share of the whole is refused.
        return own <= this.#most / this.#bodies && this.#bytes <= 2 * this.#most;
      },
      leave: () => {
        if (!counts) return;
        counts = false;
        this.#bytes -= own;
        this.#bodies -= 1;
      },
    };
  }
}
