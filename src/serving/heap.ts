/** Limits V8's heap in a serving process. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/**
 * Megabytes of each half (semi-space) of V8's young generation (its own default: 16). With 16 a process with reviews of 97 KB takes 15 MiB more, and
 * the same processor time per request. The first line of the executable, the image and `npm start` set the same: V8 reads it once, before any of our
 * code runs.
 */
const YOUNG_GENERATION_FLAG = "--max-semi-space-size=8";

/**
 * Limits of the memory that glibc keeps after it was freed. Each thread would have its own arena: V8's threads, which compile, kept up to 9 MiB after
 * a minute of load. And blocks larger than a little below 32 KB go back to the system at once: V8 compiles in pieces of that size, of which some 5
 * MiB stayed. Neither the start nor requests take longer. glibc reads this before any of our code runs, so the first line of the executable and the
 * image set the same.
 */
const ALLOCATOR: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "32768" };

/** Variables of serving processes, beside those of this one. @param own those of this process */
export const withFrugalAllocator = (own: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(ALLOCATOR).filter(([name]) => own[name] === undefined));

/** A flag that sets the semi-space's size. */
const SEMI_SPACE_FLAG = /--m(?:ax|in)[-_]semi[-_]space[-_]size(?:=\d+)?/g;

/**
 * Flags of Node for serving processes.
 * @param own those of this process
 * @param options `NODE_OPTIONS`
 */
export function withSmallYoungGeneration(own: readonly string[], options?: string): string[] {
  return flagsIn(own, options).length > 0 ? [...own] : [YOUNG_GENERATION_FLAG, ...own];
}

const flagsIn = (own: readonly string[], options = ""): string[] =>
  [...own, options].flatMap((flag) => flag.match(SEMI_SPACE_FLAG) ?? []);

/**
 * Growth of the heap, in percent, between full garbage collections. V8 lets a slowly growing heap become four times as large. 1,500 CEL policies take
 * a tenth longer to load.
 */
const HEAP_GROWING_PERCENT = 30;

/** Keeps the heap of this process small from now on. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // It also sets the least growth to 2 MiB, not 8: a process with a few policies has 10 in all.
  setFlagsFromString("--optimize-for-size");
}

/** Whether the flags set the semi-space's size. */
const isSaid = (own: readonly string[], options?: string): boolean =>
  flagsIn(own, options).some((flag) => flag !== YOUNG_GENERATION_FLAG);

/** Least bytes of a semi-space: V8 makes it 1, 2, 4 MiB and so on. 16 small requests at a time need 2; with 1 each takes 4 µs more. */
const LEAST_BYTES = 1.5 * 1024 * 1024;
/**
 * Bytes of a semi-space for each byte of the requests under way. A request's objects take several times its size; those still in use when a
 * semi-space is full are copied, and promoted the next time. With less, CEL policies take up to 1.8 times as long (16 requests of 97 KB, or 200 of 6
 * KB at a time).
 */
const ROOM = 6;
/** Bytes of a request beside its body. */
const BESIDE_BODY = 4 * 1024;
/** Answers between two checks, which take some microseconds. */
const LOOK_EVERY = 256;

/** The heap as {@link YoungGeneration} uses it. */
interface YoungHeap {
  /** Bytes of the semi-space in use. */
  bytes(): number;
  /** Sets whether V8 may enlarge it, as it does when many objects survive its collections. */
  mayGrow(may: boolean): void;
}

const V8_HEAP: YoungHeap = {
  bytes: () => {
    // Not the committed size, which is that of both halves at one time and of one at another.
    const { space_used_size: used = 0, space_available_size: available = 0 } =
      getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space") ?? {};
    return used + available;
  },
  mayGrow: (may) => setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`),
};

/**
 * Keeps the young generation as small as requests allow. V8 would enlarge it step by step up to its limit under any load: a few objects of the
 * requests under way survive each collection.
 */
export class YoungGeneration {
  readonly #heap: YoungHeap;
  readonly #now: () => number;
  /** Sum of bytes times milliseconds under way, since the last check. */
  #area = 0;
  #since: number;
  #answers = 0;
  #may = false;
  /** Threads that were started and do not run yet. */
  readonly #beginning = new Set<Worker>();

  /** @param now monotonic milliseconds */
  constructor(heap = V8_HEAP, now = () => performance.now()) {
    this.#heap = heap;
    this.#now = now;
    this.#since = now();
    this.#say();
    process.on("worker", this.#begins);
  }

  /** Notes the answer of a request. @param bytes size of its body @param milliseconds since it came */
  readonly answered = (bytes: number, milliseconds: number): void => {
    // Requests that waited for longer count only from the last check on.
    this.#area += (bytes + BESIDE_BODY) * Math.min(milliseconds, this.#now() - this.#since);
    if (++this.#answers % LOOK_EVERY === 0) this.#look();
    else if (this.#beginning.size > 0) this.#say();
  };

  /** Sets whether it may grow until the next check. */
  letGrow(may: boolean): void {
    this.#may = may;
    this.#say();
  }

  #look(): void {
    const now = this.#now();
    const underWay = now > this.#since ? this.#area / (now - this.#since) : 0;
    this.#since = now;
    this.#area = 0;
    this.#may = this.#heap.bytes() < Math.max(LEAST_BYTES, underWay * ROOM);
    this.#say();
  }

  #say(): void {
    this.#heap.mayGrow(this.#may);
  }

  /** Sets the growth again when a thread starts: V8 resets it for all threads at an unknown moment before the new one runs. */
  readonly #begins = (worker: Worker): void => {
    this.#beginning.add(worker);
    const begun = (): void => {
      if (this.#beginning.delete(worker)) this.#say();
    };
    worker.once("online", begun);
    worker.once("exit", begun);
  };

  /** Ends the adjustment. */
  close(): void {
    process.off("worker", this.#begins);
    this.#beginning.clear();
  }
}

/**
 * Does work that makes much that stays, such as a thousand policies, in a heap that grows as V8 would have it: collections would take a fifth of its time. V8 gives the memory
 * back some seconds later.
 * @param young of this process; undefined: its size is set
 */
export async function inGrowingHeap<T>(young: YoungGeneration | undefined, work: () => Promise<T>): Promise<T> {
  setFlagsFromString("--heap-growing-percent=0");
  setFlagsFromString("--no-optimize-for-size");
  young?.letGrow(true);
  try {
    return await work();
  } finally {
    keepHeapSmall();
    young?.letGrow(false);
  }
}

/**
 * Makes the young generation of this process; `undefined` where its flags set the size.
 * @param own flags of this process
 * @param options `NODE_OPTIONS`
 */
export function smallYoungGeneration(
  own: readonly string[],
  options?: string,
  heap: YoungHeap = V8_HEAP,
): YoungGeneration | undefined {
  return isSaid(own, options) ? undefined : new YoungGeneration(heap);
}
