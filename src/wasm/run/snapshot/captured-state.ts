import type { MemorySnapshot } from "../../rewrite/snapshot/memory-snapshot.js";

/** The state from which a new instance starts instead of running its start functions; its memory is in a snapshot (`rewrite/snapshot/memory-snapshot.ts`). */
export interface CapturedState {
  /** Values of the module's mutable globals, as its hidden functions pass them. */
  readonly globals: readonly (number | bigint)[];
  /** Whether the module ended in its start function by an exit, as `_start` may. */
  readonly exited: boolean;
  /** Addresses in a Rego module's memory. */
  readonly rego?: RegoState;
}

/** A Rego module that has its data document. */
export interface RegoState {
  /** The document's address. */
  readonly dataAddress: number;
  readonly builtins: Builtins;
}

/** Names of a Rego module's builtins. */
export interface Builtins {
  readonly names: ReadonlyMap<number, string>;
  /** Those that the module needs and the host lacks. */
  readonly missing: readonly string[];
}

/** A captured state. */
export interface TakenState {
  readonly image: MemorySnapshot;
  readonly state: CapturedState;
  /** Bytes of the snapshot that are not in the module's own. */
  readonly ownBytes: number;
}
