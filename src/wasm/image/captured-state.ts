/** The state with which a new instance begins in place of running its start; the content of its memory stands in an image (`memory-image.ts`). */
export interface CapturedState {
  /** Values of the module's mutable globals, as its hidden functions pass them. */
  readonly globals: readonly (number | bigint)[];
  /** Whether the module ended in its start function by an exit, as `_start` may. */
  readonly exited: boolean;
}
