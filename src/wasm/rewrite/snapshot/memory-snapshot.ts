/** The content of a guest's memory when its instance is made: some bytes, and zeros everywhere else. Captured once, shared by all threads. */

/** Consecutive bytes. */
export interface Run {
  /** Address of the first byte. */
  readonly at: number;
  /** The bytes, in memory that threads share. */
  readonly bytes: Uint8Array;
}

/** The content of a memory. */
export interface MemorySnapshot {
  /** Pages of the memory. */
  readonly pages: number;
  /** In order, none touching the next; zeros between them and behind them. */
  readonly runs: readonly Run[];
}

export const PAGE_BYTES = 64 * 1024;
/** The block size of snapshots and comparisons: smaller blocks would cost more in calls than they save in bytes. */
export const BLOCK_BYTES = 4 * 1024;
/**
 * Bytes that are compared at once. Copying out of memory that threads share takes three times as long as comparing with it, and most of a snapshot,
 * such as a program's constants, is never changed.
 */
const COMPARED_BYTES = 16 * 1024;

/** A memory of this many pages with only zeros. */
export const emptySnapshot = (pages: number): MemorySnapshot => ({ pages, runs: [] });

/** Makes the bytes of a memory zeros, from here to there; both are multiples of {@link BLOCK_BYTES}. */
export type Wipe = (from: number, end: number) => unknown;

/** Whether the bytes of a memory are zeros, from here to there, both as above: 0 when they are not. */
export type IsEmpty = (from: number, end: number) => unknown;

/** Writes a snapshot into a memory of zeros. */
export function fill(memory: WebAssembly.Memory, { runs }: MemorySnapshot): void {
  if (runs.length === 0) return;
  const bytes = new Uint8Array(memory.buffer);
  for (const run of runs) bytes.set(run.bytes, run.at);
}

/**
 * Restores parts of a memory to a snapshot. Memory beyond the snapshot's pages becomes zeros, too.
 * @param parts begin and end of each, in order, as multiples of {@link BLOCK_BYTES}; absent: all of the memory
 */
export function restore(
  { buffer }: WebAssembly.Memory,
  { runs }: MemorySnapshot,
  wipe: Wipe,
  parts: readonly number[] = [0, buffer.byteLength],
): void {
  let number = 0;
  for (let part = 0; part < parts.length; part += 2) {
    const end = parts[part + 1] ?? 0;
    for (let at = parts[part] ?? 0; at < end; ) {
      const run = runs[number];
      if (!run || run.at >= end) {
        wipe(at, end);
        break;
      }
      const behind = run.at + run.bytes.length;
      if (behind <= at) {
        number++;
        continue;
      }
      if (run.at > at) wipe(at, run.at);
      const from = Math.max(run.at, at);
      at = Math.min(behind, end);
      restoreRun(Buffer.from(buffer, from, at - from), run.bytes.subarray(from - run.at, at - run.at));
    }
  }
}

/** Whether a memory equals a snapshot. */
export function holds({ buffer }: WebAssembly.Memory, { runs }: MemorySnapshot, isEmpty: IsEmpty): boolean {
  let at = 0;
  for (const { at: from, bytes } of runs) {
    if (isEmpty(at, from) === 0 || Buffer.compare(Buffer.from(buffer, from, bytes.length), bytes) !== 0) return false;
    at = from + bytes.length;
  }
  return isEmpty(at, buffer.byteLength) !== 0;
}

function restoreRun(target: Buffer, source: Uint8Array): void {
  for (let start = 0; start < source.length; start += COMPARED_BYTES) {
    const end = Math.min(start + COMPARED_BYTES, source.length);
    if (target.compare(source, start, end, start, end) !== 0) target.set(source.subarray(start, end), start);
  }
}

/** Bytes in a snapshot. */
export function sizeOf({ runs }: MemorySnapshot): number {
  return runs.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/**
 * A snapshot of writes to a memory of zeros, in order: later bytes replace earlier ones.
 * @param writes within the pages
 */
export function imageOf(pages: number, writes: readonly Run[]): MemorySnapshot {
  const blocks = new Map<number, Uint8Array>();
  for (const { at, bytes } of writes) {
    const end = at + bytes.length;
    for (let from = at; from < end; ) {
      const index = Math.floor(from / BLOCK_BYTES);
      const to = Math.min(end, (index + 1) * BLOCK_BYTES);
      const block = blocks.get(index) ?? new Uint8Array(BLOCK_BYTES);
      blocks.set(index, block);
      block.set(bytes.subarray(from - at, to - at), from - index * BLOCK_BYTES);
      from = to;
    }
  }
  const zeros = new Uint8Array(BLOCK_BYTES);
  const written = [...blocks].filter(([, block]) => Buffer.compare(block, zeros) !== 0).sort(([a], [b]) => a - b);
  return {
    pages,
    runs: joined(written.map(([index, bytes]) => ({ at: index * BLOCK_BYTES, bytes, isShared: false }))),
  };
}

/**
 * The snapshot of a memory as it is now. Parts that equal another snapshot share its bytes, without a copy.
 * @returns the snapshot, and the number of bytes that it does not share
 */
export function takeImage(
  memory: WebAssembly.Memory,
  base: MemorySnapshot,
): { image: MemorySnapshot; ownBytes: number } {
  const now = Buffer.from(memory.buffer);
  const zeros = new Uint8Array(BLOCK_BYTES);
  const blocks: Block[] = [];
  let ownBytes = 0;
  const known = base.runs.values();
  let run = known.next().value;
  for (let at = 0; at < now.length; at += BLOCK_BYTES) {
    while (run && run.at + run.bytes.length <= at) run = known.next().value;
    const shared = run && run.at <= at ? run.bytes.subarray(at - run.at, at - run.at + BLOCK_BYTES) : undefined;
    const bytes = now.subarray(at, at + BLOCK_BYTES);
    if (shared && bytes.equals(shared)) blocks.push({ at, bytes: shared, isShared: true });
    else if (!bytes.equals(zeros)) {
      blocks.push({ at, bytes, isShared: false });
      ownBytes += BLOCK_BYTES;
    }
  }
  return { image: { pages: now.length / PAGE_BYTES, runs: joined(blocks) }, ownBytes };
}

/** {@link BLOCK_BYTES} of a memory. */
interface Block extends Run {
  /** Whether they are in memory that threads share already. */
  readonly isShared: boolean;
}

/** Makes as few runs of blocks as there can be, and copies those that threads don't share yet. */
function joined(blocks: readonly Block[]): Run[] {
  const own = blocks.filter(({ isShared }) => !isShared).length;
  const copies = new Uint8Array(new SharedArrayBuffer(own * BLOCK_BYTES));
  let copied = 0;
  const runs: Run[] = [];
  for (const { at, bytes, isShared } of blocks) {
    if (isShared) addTo(runs, at, bytes);
    else {
      const copy = copies.subarray(copied, copied + BLOCK_BYTES);
      copied += BLOCK_BYTES;
      copy.set(bytes);
      addTo(runs, at, copy);
    }
  }
  return runs;
}

/** Adds a block: to the last run when it follows it in both memories. */
function addTo(runs: Run[], at: number, bytes: Uint8Array): void {
  const last = runs.at(-1);
  if (last && last.at + last.bytes.length === at && continues(last.bytes, bytes)) {
    const { buffer, byteOffset, length } = last.bytes;
    runs[runs.length - 1] = { at: last.at, bytes: new Uint8Array(buffer, byteOffset, length + bytes.length) };
  } else runs.push({ at, bytes });
}

const continues = (a: Uint8Array, b: Uint8Array): boolean =>
  a.buffer === b.buffer && a.byteOffset + a.length === b.byteOffset;

/** Whether two snapshots of the same module are equal. */
export function sameImage(one: MemorySnapshot, other: MemorySnapshot): boolean {
  return (
    one.pages === other.pages &&
    one.runs.length === other.runs.length &&
    one.runs.every(({ at, bytes }, index) => {
      const run = other.runs[index];
      return run !== undefined && run.at === at && Buffer.compare(bytes, run.bytes) === 0;
    })
  );
}
