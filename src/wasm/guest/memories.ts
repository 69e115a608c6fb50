import { readFileSync } from "node:fs";
import { fill, type MemoryImage, PAGE_BYTES, restore, type Wipe } from "../image/memory-image.js";
import type { GuestMemory } from "./call.js";
import { GuestMemoryError } from "./guest.js";

/** Memories kept, at most one for each module. */
const KEPT = 16;
/** A kept memory may be so many pages larger than the module asked for: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory kept, in pages: wiping more may take longer than making a new one. */
const LARGEST_PAGES = 128;

/** A memory that was used, and what it is brought to before it is used again. */
interface Kept {
  readonly memory: WebAssembly.Memory;
  readonly wipe: Wipe;
  image: MemoryImage;
  /** Whether it has been brought there. */
  isClean: boolean;
}

/**
 * Memories of guests, brought back to how they began and used again. New memories for all instances would be garbage collected in batches, which costs
 * more than all else about an instance; wiping a MiB costs some ten microseconds (wipe.wat).
 */
export class Memories {
  /** By module id, least recently used first. */
  readonly #kept = new Map<number, Kept>();
  /** The memory given out last: it is usually the next to be given back. */
  #lent: Kept | undefined;
  /** The one given back last. */
  #used: Kept | undefined;
  #wiper: WebAssembly.Module | undefined;

  /**
   * A memory that holds an image, and nothing else.
   * @throws GuestMemoryError when there is none left
   */
  take(moduleId: number, shape: GuestMemory, image: MemoryImage): WebAssembly.Memory {
    const kept = this.#kept.get(moduleId);
    this.#kept.delete(moduleId);
    if (kept && fits(kept.memory, image)) {
      if (!kept.isClean || kept.image !== image) restore(kept.memory, image, kept.wipe);
      if (this.#used === kept) this.#used = undefined;
      this.#lent = kept;
      return kept.memory;
    }
    const memory = newMemory({ ...shape, initial: image.pages });
    fill(memory, image);
    return memory;
  }

  /** Keeps the memory of an instance that has answered, unless it is large, for an instance that begins with this image. It may be read until {@link tidy}. */
  give(moduleId: number, memory: WebAssembly.Memory, image: MemoryImage): void {
    this.tidy();
    if (!fits(memory, image)) return;
    const kept = this.#lent?.memory === memory ? this.#lent : this.#keep(memory, image);
    kept.image = image;
    kept.isClean = false;
    this.#kept.set(moduleId, kept);
    this.#used = kept;
    if (this.#kept.size <= KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }

  /** Brings the memory given last back to its image. Called when the answer is on its way: nobody waits for this. */
  tidy(): void {
    const used = this.#used;
    if (!used) return;
    this.#used = undefined;
    restore(used.memory, used.image, used.wipe);
    used.isClean = true;
  }

  #keep(memory: WebAssembly.Memory, image: MemoryImage): Kept {
    this.#wiper ??= new WebAssembly.Module(new Uint8Array(readFileSync(new URL("./wipe.wasm", import.meta.url))));
    const wipe = new WebAssembly.Instance(this.#wiper, { guest: { memory } }).exports.wipe as Wipe;
    return { memory, wipe, image, isClean: false };
  }
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
