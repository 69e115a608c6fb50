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

/** Places kept, at most one for each module. */
const KEPT = 16;
/** Bytes of all memories kept, but for the last one: as much as a thread keeps of images. */
const KEPT_BYTES = 128 * 1024 * 1024;
/** A kept memory may be so many pages larger than the module asked for: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory kept, in pages: wiping more may take longer than making a new one. */
const LARGEST_PAGES = 128;

/** So many times a new place is looked at as a whole when it has been brought back by its marks, */
const CHECKED_FIRST = 4;
/** and after these one time in so many. A mark that is missing would be a mistake in the meter or the host, which no call may see. */
const CHECKED_EVERY = 1_000;

/** The code of the warning about a memory that its marks did not bring back. */
export const MISSED = "MEMORY_NOT_MARKED";

/** What is known of where a module writes. */
export type WritingModule = Pick<GuestModule, "marking" | "floor">;

/** Functions for one memory (wipe.wat). */
interface Wiper {
  readonly wipe: Wipe;
  readonly is_empty: IsEmpty;
}

/** A place, and what its memory is brought to before it is used again. */
class Place implements InstancePlace {
  readonly used = new WeakMap<WebAssembly.Imports, UsedInstance>();
  readonly moduleId: number;
  readonly memory: WebAssembly.Memory;
  image: MemorySnapshot;
  /** Whether the memory holds the image, and nothing else. */
  isClean = true;
  /** Of its memory, while it is kept. */
  bytes = 0;
  /** Absent: all of it may have been written to. */
  #written: Written | undefined;
  #wiper: Wiper | undefined;
  #times = 0;

  /** @param written of its instances; absent: all of the memory is brought back each time */
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
   * Brings the memory to an image.
   * @param newWiper for this memory
   * @returns whether its marks were right, as far as it was looked
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
 * Where guests live: their memories, with the instances in them, brought back to how they began and used again. New ones for all calls would be garbage
 * collected in batches, which costs more than all else about an instance; wiping a MiB costs some ten microseconds (wipe.wat).
 */
export class Places {
  /**
   * Least recently used first. No Map: one that loses and gets an entry with each call makes a table anew every few of them, each of which holds the next;
   * once one of them has grown old, none behind it is taken for garbage before all of the heap is looked through.
   */
  readonly #kept: Place[] = [];
  #keptBytes = 0;
  /** The one given back last, until it is clean. */
  #left: Place | undefined;
  #wiper: WebAssembly.Module | undefined;
  /** Modules whose marks were wrong once. */
  readonly #distrusted = new Set<number>();

  /**
   * A place whose memory holds an image, and nothing else.
   * @param writing what is known of where the module writes
   * @throws GuestMemoryError when there is none left
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

  /** Makes a place for a module's next call, unless there is one. @returns whether it has */
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

  /** Keeps a module's place no longer. @returns it, if there was one */
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

  /** Brings the memory given back last to its image. Called when answers are on their way; a call that comes before does it itself. */
  tidy(): void {
    const left = this.#left;
    this.#left = undefined;
    if (left) this.#clean(left, left.image);
  }

  /** A module whose marks are wrong is not trusted again. */
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
  // A new one would have to be filled as well.
  const largest = runs.length > 0 ? pages + GROWN_PAGES : LARGEST_PAGES;
  return has >= pages && has <= Math.min(pages + GROWN_PAGES, largest);
}

function newMemory(shape: GuestMemory): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory(shape);
  } catch (error) {
    // The engine says so when it finds no room for a memory of this size.
    if (error instanceof RangeError) throw new GuestMemoryError(error.message);
    throw error;
  }
}
