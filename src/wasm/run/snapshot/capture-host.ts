/** The host of a call that captures the state of its instance. */

import { type MemorySnapshot, takeImage } from "../../rewrite/snapshot/memory-snapshot.js";
import { CallHost } from "../guest/call-host.js";
import type { StartedInstance } from "../guest/guest.js";
import { globalsOf } from "../guest/start-functions.js";
import type { TakenState } from "./captured-state.js";

/** Ends a call whose state was captured at its start. Its result does not matter. */
class StateTaken extends Error {}

/** A call's host that captures the state of its instance: when it has started, or when it has answered. */
export class CaptureHost extends CallHost {
  /** The state after its start, once it is captured. */
  taken: TakenState | undefined;
  #started: StartedInstance | undefined;
  readonly #base: MemorySnapshot;
  readonly #until: "start" | "answer";

  /** @param base the snapshot from which instances of the module start */
  constructor(base: MemorySnapshot, until: "start" | "answer", ...rest: ConstructorParameters<typeof CallHost>) {
    super(...rest);
    this.#base = base;
    this.#until = until;
  }

  started(instance: StartedInstance): void {
    this.#started = instance;
    if (this.#until === "answer") return;
    this.taken = this.take();
    throw new StateTaken();
  }

  /**
   * The instance's state now.
   * @returns undefined when the instance has not started, or can't be captured
   */
  take(): TakenState | undefined {
    if (!this.#started) return undefined;
    const { exports, memory, exited, rego } = this.#started;
    return {
      ...takeImage(memory, this.#base),
      state: { globals: globalsOf({ exports }), exited, ...(rego && { rego }) },
    };
  }
}
