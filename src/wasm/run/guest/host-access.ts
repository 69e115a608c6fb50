/**
 * The memory of a guest as its host reads and writes it. All that the host writes goes through here, where it is noted: what is not noted would not be brought
 * back before the next call (`places.ts`).
 */
import type { InstancePlace } from "./place.js";

/** Numbers in a memory, to be read. */
export type ReadableNumbers = Pick<DataView, "getUint8" | "getUint16" | "getUint32" | "getBigUint64">;

/** One instance's memory. Views are made at every use, because the memory may have grown since. */
export abstract class HostAccess {
  abstract readonly memory: WebAssembly.Memory;
  protected readonly place: InstancePlace | undefined;

  /** @param place with the memory, if it is one that is used again */
  constructor(place: InstancePlace | undefined) {
    this.place = place;
  }

  /** A part of the memory, to be read and never written to. */
  read(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
  }

  /** A part of the memory, to be written to. */
  write(pointer: number, length: number): Uint8Array {
    const bytes = new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
    this.place?.note(pointer, length);
    return bytes;
  }

  /** All of the memory, to be read. */
  numbers(): ReadableNumbers {
    return new DataView(this.memory.buffer);
  }

  /** All of the memory, to write numbers to this part of it. */
  writeNumbers(pointer: number, length: number): DataView {
    this.place?.note(pointer, length);
    return new DataView(this.memory.buffer);
  }
}
