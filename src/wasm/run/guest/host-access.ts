/**
 * The host's access to a guest's memory. All writes of the host go through here, where they are noted: other writes would not be restored before the
 * next call (`instance-pool.ts`).
 */
import type { InstancePlace } from "./place.js";

/** Reads numbers in a memory. */
export type ReadableNumbers = Pick<DataView, "getUint8" | "getUint16" | "getUint32" | "getBigUint64">;

/** One instance's memory. Views are made at every use, because the memory may have grown since. */
export abstract class HostAccess {
  abstract readonly memory: WebAssembly.Memory;
  protected readonly place: InstancePlace | undefined;

  /** @param place the place of the memory, if it is reused */
  constructor(place: InstancePlace | undefined) {
    this.place = place;
  }

  /** A part of the memory, only for reading. */
  read(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
  }

  /** A part of the memory, for writing. */
  write(pointer: number, length: number): Uint8Array {
    const bytes = new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
    this.place?.note(pointer, length);
    return bytes;
  }

  /** The whole memory, for reading numbers. */
  numbers(): ReadableNumbers {
    return new DataView(this.memory.buffer);
  }

  /** The whole memory, for writing numbers to this part of it. */
  writeNumbers(pointer: number, length: number): DataView {
    this.place?.note(pointer, length);
    return new DataView(this.memory.buffer);
  }
}
