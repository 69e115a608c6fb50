import type { MemorySnapshot } from "../../rewrite/snapshot/memory-snapshot.js";

/** The state with which a new instance begins in place of running its start; the content of its memory stands in an image (`memory-image.ts`). */
export interface CapturedState {
  /** Values of the module's mutable globals, as its hidden functions pass them. */
  readonly globals: readonly (number | bigint)[];
  /** Whether the module ended in its start function by an exit, as `_start` may. */
  readonly exited: boolean;
  /** What the host knows of a Rego module's memory. */
  readonly rego?: RegoState;
}

/** A Rego module that has its data document. */
export interface RegoState {
  /** Where the document is. */
  readonly dataAddress: number;
  readonly builtins: Builtins;
}

/** What a Rego module's builtins are called. */
export interface Builtins {
  readonly names: ReadonlyMap<number, string>;
  /** Those that the module needs and the host lacks. */
  readonly missing: readonly string[];
}

/** A state as it was taken. */
export interface TakenState {
  readonly image: MemorySnapshot;
  readonly state: CapturedState;
  /** Bytes of the image that are not the module's own. */
  readonly ownBytes: number;
}
