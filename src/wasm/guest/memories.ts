import type { GuestMemory } from "./call.js";
import { GuestMemoryError } from "./guest.js";

const PAGE_BYTES = 64 * 1024;
/** Memories kept, at most one for each module. */
const KEPT = 16;
/** A kept memory may be so many pages larger than the module asked for: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory kept, in pages: wiping more takes longer than making a new one. */
const LARGEST_PAGES = 128;

/**
 * Memories of guests, wiped and used again. New memories for all instances would be garbage collected in batches, which costs more than
 * all else about an instance; wiping a MiB costs some microseconds.
 */
export class Memories {
  /** By module id, least recently used first. */
  readonly #kept = new Map<number, WebAssembly.Memory>();

  /**
   * A memory that holds nothing but zeros.
   * @throws GuestMemoryError when there is none left
   */
  take(moduleId: number, shape: GuestMemory): WebAssembly.Memory {
    const memory = this.#kept.get(moduleId);
    if (!memory) return newMemory(shape);
    this.#kept.delete(moduleId);
    return memory;
  }

  /** Wipes the memory of an instance that has answered, and keeps it unless it is large. */
  give(moduleId: number, memory: WebAssembly.Memory, { initial }: GuestMemory): void {
    const bytes = new Uint8Array(memory.buffer);
    if (bytes.length > Math.min(initial + GROWN_PAGES, LARGEST_PAGES) * PAGE_BYTES) return;
    bytes.fill(0);
    this.#kept.set(moduleId, memory);
    if (this.#kept.size <= KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }
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
