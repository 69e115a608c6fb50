/** What V8 may take for the heap of a process that serves. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/**
 * Most megabytes of each half of what V8 keeps short-lived objects in (its own default: 16). With 16 a process that is sent reviews of 97 KB takes 15 MiB more and requests the same
 * time of the processor. The first line of the executable, the image and `npm start` say the same: V8 reads it once, before any of our code runs.
 */
const YOUNG_GENERATION_FLAG = "--max-semi-space-size=8";

/**
 * What glibc keeps of memory that was given back to it. Each thread would have a room of its own: V8's threads, which compile, kept up to 9 MiB after a minute of load. And what is
 * larger than 32 KB less a little goes back to the system at once: V8 compiles in pieces of that size, of which some 5 MiB stayed. Neither the start nor requests take longer. glibc reads
 * this before any of our code runs, so the first line of the executable and the image say the same.
 */
const ALLOCATOR: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "32768" };

/** Variables for processes that answer requests, beside those of this one. @param own those of this process */
export const withFrugalAllocator = (own: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(ALLOCATOR).filter(([name]) => own[name] === undefined));

/** A flag that says how large it may be. */
const SEMI_SPACE_FLAG = /--m(?:ax|in)[-_]semi[-_]space[-_]size(?:=\d+)?/g;

/**
 * Flags of Node for processes that answer requests.
 * @param own those of this process
 * @param options `NODE_OPTIONS`
 */
export function withSmallYoungGeneration(own: readonly string[], options?: string): string[] {
  return flagsIn(own, options).length > 0 ? [...own] : [YOUNG_GENERATION_FLAG, ...own];
}

const flagsIn = (own: readonly string[], options = ""): string[] =>
  [...own, options].flatMap((flag) => flag.match(SEMI_SPACE_FLAG) ?? []);

/**
 * By how much the heap grows, in percent, before all of it is looked through for garbage. V8 lets one that grows slowly become four times as large. 1,500
 * CEL policies take a tenth longer to load.
 */
const HEAP_GROWING_PERCENT = 30;

/** Keeps the heap of this process small from now on. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // And by 2 MiB at the least, not 8: a process that serves a few policies has 10 in all.
  setFlagsFromString("--optimize-for-size");
}

/** Whether somebody has said how large the room for short-lived objects is. */
const isSaid = (own: readonly string[], options?: string): boolean =>
  flagsIn(own, options).some((flag) => flag !== YOUNG_GENERATION_FLAG);

/** Bytes that are always enough for a half of it: V8 makes it 1, 2, 4 MiB and so on. 16 small requests at a time need 2; with 1 each takes 4 µs more. */
const LEAST_BYTES = 1.5 * 1024 * 1024;
/**
 * Bytes of a half for each byte of the requests that are under way. What is made of a request is several times its size; what is still needed of it when
 * a half is full is copied, and kept when that comes again. With less, CEL policies take up to 1.8 times as long (16 requests of 97 KB, or 200 of 6 KB at a time).
 */
const ROOM = 6;
/** Bytes that any request takes beside its body, as bytes of one. */
const BESIDE_BODY = 4 * 1024;
/** Answers between looks; each takes some microseconds. */
const LOOK_EVERY = 256;

/** What a {@link YoungGeneration} acts on. */
interface YoungHeap {
  /** Bytes of the half in use. */
  bytes(): number;
  /** Whether V8 may make it larger, which it does when much outlives its collections. */
  mayGrow(may: boolean): void;
}

const V8_HEAP: YoungHeap = {
  bytes: () => {
    // Not what the system has given, which is both halves at one time and one at another.
    const { space_used_size: used = 0, space_available_size: available = 0 } =
      getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space") ?? {};
    return used + available;
  },
  mayGrow: (may) => setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`),
};

/**
 * Keeps the room for short-lived objects as small as requests allow. V8 would make it larger bit by bit, up to its limit, whatever the load: a few objects of
 * the requests under way outlive each collection.
 */
export class YoungGeneration {
  readonly #heap: YoungHeap;
  readonly #now: () => number;
  /** Bytes by the milliseconds that they were under way, since the last look. */
  #area = 0;
  #since: number;
  #answers = 0;
  #may = false;
  /** Threads that have been asked for and do not run yet. */
  readonly #beginning = new Set<Worker>();

  /** @param now monotonic milliseconds */
  constructor(heap = V8_HEAP, now = () => performance.now()) {
    this.#heap = heap;
    this.#now = now;
    this.#since = now();
    this.#say();
    process.on("worker", this.#begins);
  }

  /** Notes that a request has its answer. @param bytes of its body @param milliseconds since it came */
  readonly answered = (bytes: number, milliseconds: number): void => {
    // Of those that waited for long only what is of this time: they were few, however late they are.
    this.#area += (bytes + BESIDE_BODY) * Math.min(milliseconds, this.#now() - this.#since);
    if (++this.#answers % LOOK_EVERY === 0) this.#look();
    else if (this.#beginning.size > 0) this.#say();
  };

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

  /** V8 takes a growth of 1 back, for all threads, when one more begins: at a moment that nobody tells, before it runs. */
  readonly #begins = (worker: Worker): void => {
    this.#beginning.add(worker);
    const begun = (): void => {
      if (this.#beginning.delete(worker)) this.#say();
    };
    worker.once("online", begun);
    worker.once("exit", begun);
  };

  /** Leaves the room as it is. */
  close(): void {
    process.off("worker", this.#begins);
    this.#beginning.clear();
  }
}

/**
 * What notes the answers of this process; `undefined` where its flags say how large the room is.
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
