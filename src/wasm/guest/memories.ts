import { readFileSync } from "node:fs";
import type { GuestMemory } from "./call.js";
import { GuestMemoryError } from "./guest.js";

const PAGE_BYTES = 64 * 1024;
/** Memories kept, at most one for each module. */
const KEPT = 16;
/** A kept memory may be so many pages larger than the module asked for: it can't shrink, and the next guest would start with all of it. */
const GROWN_PAGES = 16;
/** Largest memory kept, in pages: wiping more may take longer than making a new one. */
const LARGEST_PAGES = 128;

/** A memory that is all zeros. */
interface Wiped {
  readonly memory: WebAssembly.Memory;
  readonly wipe: Wipe;
}

/** Wipes the memory up to this byte. */
type Wipe = (end: number) => unknown;

/**
 * Memories of guests, wiped and used again. New memories for all instances would be garbage collected in batches, which costs more than
 * all else about an instance; wiping a MiB costs some ten microseconds (wipe.wat).
 */
export class Memories {
  /** By module id, least recently used first. */
  readonly #kept = new Map<number, Wiped>();
  /** How the memory given out last is wiped: it is usually the next to be given back. */
  #lent: Wiped | undefined;
  #wiper: WebAssembly.Module | undefined;

  /**
   * A memory that holds nothing but zeros.
   * @throws GuestMemoryError when there is none left
   */
  take(moduleId: number, shape: GuestMemory): WebAssembly.Memory {
    const kept = this.#kept.get(moduleId);
    if (!kept) return newMemory(shape);
    this.#kept.delete(moduleId);
    this.#lent = kept;
    return kept.memory;
  }

  /** Wipes the memory of an instance that has answered, and keeps it unless it is large. */
  give(moduleId: number, memory: WebAssembly.Memory, { initial }: GuestMemory): void {
    const { byteLength } = memory.buffer;
    if (byteLength > Math.min(initial + GROWN_PAGES, LARGEST_PAGES) * PAGE_BYTES) return;
    const wiped = this.#lent?.memory === memory ? this.#lent : { memory, wipe: this.#wipeFor(memory) };
    wiped.wipe(byteLength);
    this.#kept.set(moduleId, wiped);
    if (this.#kept.size <= KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }

  #wipeFor(memory: WebAssembly.Memory): Wipe {
    this.#wiper ??= new WebAssembly.Module(new Uint8Array(readFileSync(new URL("./wipe.wasm", import.meta.url))));
    return new WebAssembly.Instance(this.#wiper, { guest: { memory } }).exports.wipe as Wipe;
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
