/**
 * What bodies whose end has not come take together. Their clients decide how long that is, within the limit of time for a request, so that many of them together would take all
 * the memory that there is.
 */

/** The part of a server's memory that they may take: as much again is needed for what is made of them, and policies need the rest. */
const MEMORY_SHARE = 1 / 8;
/**
 * Most bytes for all processes of a server, however much memory there is: 48 of the largest bodies that are taken by default, where an API server has a few under way. What is refused is
 * collected late, so that twice as much is taken for a moment.
 */
const MOST_BYTES = 96 * 1024 * 1024;
/** The largest bodies that have room in any case. */
const LEAST_BODIES = 2;

/**
 * Bytes that unfinished bodies may take in one process.
 * @param memory bytes that the server may use
 * @param processes that answer requests, and share it
 * @param bodyLimit most bytes of one body
 */
export const bodyShare = (memory: number, processes: number, bodyLimit: number): number =>
  Math.max(Math.floor(Math.min(memory * MEMORY_SHARE, MOST_BYTES) / processes), LEAST_BODIES * bodyLimit);

/** A body that counts. */
export interface CountedBody {
  /** Adds bytes; false: there is no room for a body of this size, and it is to be refused. */
  grow(bytes: number): boolean;
  /** It has ended, or is given up. To be called again does nothing. */
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

  /** Bytes of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts one from its first bytes on. */
  begin(): CountedBody {
    let own = 0;
    let counts = true;
    this.#bodies += 1;
    return {
      grow: (bytes) => {
        own += bytes;
        this.#bytes += bytes;
        if (this.#bytes <= this.#most) return true;
        // Small ones have room beside any number of large ones: what has more than its part of all goes.
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
