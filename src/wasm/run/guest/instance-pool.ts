import { readFileSync } from "node:fs";
import type { GuestMemory } from "../../rewrite/binary/types.js";
import {
  fill,
  holds,
  type IsEmpty,
  type MemorySnapshot,
  PAGE_BYTES,
  restore,
  type Wipe,
} from "../../rewrite/snapshot/memory-snapshot.js";
import type { GuestModule } from "./call.js";
import { GuestMemoryError } from "./guest.js";
import type { InstancePlace, UsedInstance } from "./place.js";
import { type Written, WrittenAbove } from "./written.js";
import { WrittenRegions } from "./written-regions.js";

/** Most places that are kept, at most one for each module. */
const KEPT = 16;
/** Most bytes of all kept memories except the last one: as much as a thread keeps of snapshots. */
const KEPT_BYTES = 128 * 1024 * 1024;
/** Pages by which a kept memory may be larger than the module's minimum: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory that is kept, in pages: wiping more may take longer than making a new one. */
const LARGEST_PAGES = 128;

/** Number of restorations after which the whole memory of a new place is checked, */
const CHECKED_FIRST = 4;
/** and interval of later checks. A missing mark would be a defect of the meter or the host, which must not affect a call. */
const CHECKED_EVERY = 1_000;

/** The code of the warning about a memory that its marks did not restore. */
export const MISSED = "MEMORY_NOT_MARKED";

/** Where a module writes, as far as that is known. */
export type WritingModule = Pick<GuestModule, "marking" | "floor">;

/** Functions for one memory (wipe.wat). */
interface Wiper {
  readonly wipe: Wipe;
  readonly is_empty: IsEmpty;
}

/** A place, with the snapshot to which its memory is restored before it is reused. */
class Place implements InstancePlace {
  readonly used = new WeakMap<WebAssembly.Imports, UsedInstance>();
  readonly moduleId: number;
  readonly memory: WebAssembly.Memory;
  image: MemorySnapshot;
  /** Whether the memory equals the snapshot. */
  isClean = true;
  /** Bytes of its memory, while it is kept. */
  bytes = 0;
  /** Absent: all of it may have been written to. */
  #written: Written | undefined;
  #wiper: Wiper | undefined;
  #times = 0;

  /** @param written regions written by its instances; absent: the whole memory is restored each time */
  constructor(moduleId: number, memory: WebAssembly.Memory, image: MemorySnapshot, written: Written | undefined) {
    this.moduleId = moduleId;
    this.memory = memory;
    this.image = image;
    this.#written = written;
  }

  note(address: number, length: number): void {
    this.#written?.note(address, length);
  }

  entered(instance: WebAssembly.Instance): void {
    this.#written?.entered(instance);
  }

  /**
   * Restores the memory to a snapshot.
   * @param newWiper makes a wiper for this memory
   * @returns whether its marks were right, as far as they were checked
   */
  clean(image: MemorySnapshot, newWiper: (memory: WebAssembly.Memory) => Wiper): boolean {
    if (this.isClean && this.image === image) return true;
    this.#wiper ??= newWiper(this.memory);
    const { memory } = this;
    const parts = this.#written?.take(memory.buffer.byteLength);
    const byMarks = parts !== undefined && this.image === image;
    restore(memory, image, this.#wiper.wipe, byMarks ? parts : undefined);
    this.image = image;
    this.isClean = true;
    if (!byMarks || !this.#isChecked() || holds(memory, image, this.#wiper.is_empty)) return true;
    restore(memory, image, this.#wiper.wipe);
    this.#written = undefined;
    return false;
  }

  #isChecked(): boolean {
    return ++this.#times <= CHECKED_FIRST || this.#times % CHECKED_EVERY === 0;
  }
}

/**
 * A pool of guests' memories, with the instances in them, which are restored to their first state and reused. New ones for all calls would be garbage
 * collected in batches, which costs more than all else about an instance; wiping a MiB costs some ten microseconds (wipe.wat).
 */
export class Places {
  /**
   * Kept places, least recently used first. Not a Map: one that loses and gets an entry with each call makes a new table every few calls, each of
   * which refers to the next; once one of them is in the old generation, the later ones are freed only by a full collection.
   */
  readonly #kept: Place[] = [];
  #keptBytes = 0;
  /** The place that was given back last, until it is clean. */
  #left: Place | undefined;
  #wiper: WebAssembly.Module | undefined;
  /** Modules whose marks were wrong once. */
  readonly #distrusted = new Set<number>();

  /**
   * A place whose memory equals a snapshot.
   * @param writing the marking of the module's writes
   * @throws GuestMemoryError when there is no memory left
   */
  take(moduleId: number, shape: GuestMemory, image: MemorySnapshot, writing: WritingModule = {}): InstancePlace {
    const kept = this.#takeOut(moduleId);
    if (kept && fits(kept.memory, image)) {
      this.#clean(kept, image);
      if (this.#left === kept) this.#left = undefined;
      return kept;
    }
    return this.#make(moduleId, shape, image, writing);
  }

  /** Makes a place for a module's next call, unless there is one. @returns whether it made one */
  prepare(moduleId: number, shape: GuestMemory, image: MemorySnapshot, writing: WritingModule): boolean {
    const kept = this.#kept.find((place) => place.moduleId === moduleId);
    if (kept && fits(kept.memory, image)) return false;
    this.#keep(this.#make(moduleId, shape, image, writing));
    return true;
  }

  /** Keeps the place of an instance that has answered, unless its memory is large, for the module's next. It may be read until {@link tidy}. */
  give(place: InstancePlace): void {
    this.tidy();
    if (!(place instanceof Place) || !fits(place.memory, place.image)) return;
    place.isClean = false;
    this.#left = place;
    this.#keep(place);
  }

  #make(moduleId: number, shape: GuestMemory, image: MemorySnapshot, writing: WritingModule): Place {
    const memory = newMemory({ ...shape, initial: image.pages });
    fill(memory, image);
    return new Place(moduleId, memory, image, this.#distrusted.has(moduleId) ? undefined : writtenBy(writing));
  }

  #keep(place: Place): void {
    this.#takeOut(place.moduleId);
    place.bytes = place.memory.buffer.byteLength;
    this.#keptBytes += place.bytes;
    this.#kept.push(place);
    while (this.#kept.length > 1 && (this.#kept.length > KEPT || this.#keptBytes > KEPT_BYTES)) this.#takeOutAt(0);
  }

  /** Removes a module's place from the pool. @returns it, if there was one */
  #takeOut(moduleId: number): Place | undefined {
    for (let at = this.#kept.length - 1; at >= 0; at--) {
      if (this.#kept[at]?.moduleId === moduleId) return this.#takeOutAt(at);
    }
    return undefined;
  }

  #takeOutAt(at: number): Place | undefined {
    const place = this.#kept[at];
    this.#kept.copyWithin(at, at + 1).pop();
    this.#keptBytes -= place?.bytes ?? 0;
    return place;
  }

  /** Restores the memory that was given back last. Called after answers were sent; an earlier call does it itself. */
  tidy(): void {
    const left = this.#left;
    this.#left = undefined;
    if (left) this.#clean(left, left.image);
  }

  /** Restores a place. The marks of a module are not trusted again once they were wrong. */
  #clean(place: Place, image: MemorySnapshot): void {
    if (place.clean(image, this.#newWiper)) return;
    this.#distrusted.add(place.moduleId);
    process.emitWarning(
      "a module had written to memory that it had not marked: it is brought back as a whole from now on",
      {
        code: MISSED,
      },
    );
  }

  readonly #newWiper = (memory: WebAssembly.Memory): Wiper => {
    this.#wiper ??= new WebAssembly.Module(new Uint8Array(readFileSync(new URL("./wipe.wasm", import.meta.url))));
    return new WebAssembly.Instance(this.#wiper, { guest: { memory } }).exports as unknown as Wiper;
  };
}

function writtenBy({ marking, floor }: WritingModule): Written | undefined {
  if (floor) return new WrittenAbove(floor.address);
  return marking && new WrittenRegions(marking);
}

function fits({ buffer }: WebAssembly.Memory, { pages, runs }: MemorySnapshot): boolean {
  const has = buffer.byteLength / PAGE_BYTES;
  // A new memory would have to be filled as well.
  const largest = runs.length > 0 ? pages + GROWN_PAGES : LARGEST_PAGES;
  return has >= pages && has <= Math.min(pages + GROWN_PAGES, largest);
}

function newMemory(shape: GuestMemory): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory(shape);
  } catch (error) {
    // The engine throws it when it has no room for a memory of this size.
    if (error instanceof RangeError) throw new GuestMemoryError(error.message);
    throw error;
  }
}
