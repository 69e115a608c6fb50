import { readFileSync } from "node:fs";
import { fill, type MemoryImage, PAGE_BYTES, restore, type Wipe } from "../image/memory-image.js";
import type { GuestMemory } from "./call.js";
import { GuestMemoryError } from "./guest.js";
import type { InstancePlace, UsedInstance } from "./place.js";

/** Places kept, at most one for each module. */
const KEPT = 16;
/** A kept memory may be so many pages larger than the module asked for: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory kept, in pages: wiping more may take longer than making a new one. */
const LARGEST_PAGES = 128;

/** A place, and what its memory is brought to before it is used again. */
class Place implements InstancePlace {
  readonly used = new WeakMap<WebAssembly.Imports, UsedInstance>();
  readonly memory: WebAssembly.Memory;
  image: MemoryImage;
  /** Whether the memory holds the image, and nothing else. */
  isClean = true;
  #wipe: Wipe | undefined;

  constructor(memory: WebAssembly.Memory, image: MemoryImage) {
    this.memory = memory;
    this.image = image;
  }

  /** Brings the memory to an image. @param newWipe for this memory */
  clean(image: MemoryImage, newWipe: (memory: WebAssembly.Memory) => Wipe): void {
    if (this.isClean && this.image === image) return;
    this.#wipe ??= newWipe(this.memory);
    restore(this.memory, image, this.#wipe);
    this.image = image;
    this.isClean = true;
  }
}

/**
 * Where guests live: their memories, with the instances in them, brought back to how they began and used again. New ones for all calls would be garbage
 * collected in batches, which costs more than all else about an instance; wiping a MiB costs some ten microseconds (wipe.wat).
 */
export class Places {
  /** By module id, least recently used first. */
  readonly #kept = new Map<number, Place>();
  /** The one given back last, until it is clean. */
  #left: Place | undefined;
  #wiper: WebAssembly.Module | undefined;

  /**
   * A place whose memory holds an image, and nothing else.
   * @throws GuestMemoryError when there is none left
   */
  take(moduleId: number, shape: GuestMemory, image: MemoryImage): InstancePlace {
    const kept = this.#kept.get(moduleId);
    this.#kept.delete(moduleId);
    if (kept && fits(kept.memory, image)) {
      kept.clean(image, this.#newWipe);
      if (this.#left === kept) this.#left = undefined;
      return kept;
    }
    const memory = newMemory({ ...shape, initial: image.pages });
    fill(memory, image);
    return new Place(memory, image);
  }

  /** Keeps the place of an instance that has answered, unless its memory is large, for the module's next. It may be read until {@link tidy}. */
  give(moduleId: number, place: InstancePlace): void {
    this.tidy();
    if (!(place instanceof Place) || !fits(place.memory, place.image)) return;
    place.isClean = false;
    this.#kept.set(moduleId, place);
    this.#left = place;
    if (this.#kept.size <= KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }

  /** Brings the memory given back last to its image. Called when answers are on their way; a call that comes before does it itself. */
  tidy(): void {
    const left = this.#left;
    this.#left = undefined;
    left?.clean(left.image, this.#newWipe);
  }

  readonly #newWipe = (memory: WebAssembly.Memory): Wipe => {
    this.#wiper ??= new WebAssembly.Module(new Uint8Array(readFileSync(new URL("./wipe.wasm", import.meta.url))));
    return new WebAssembly.Instance(this.#wiper, { guest: { memory } }).exports.wipe as Wipe;
  };
}

function fits({ buffer }: WebAssembly.Memory, { pages, runs }: MemoryImage): boolean {
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
