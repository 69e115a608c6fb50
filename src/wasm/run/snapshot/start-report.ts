/** How the instances of a policy begin, and what was found about it. */
import type { TakenState } from "./captured-state.js";

/** How the instances of a policy begin: from nothing, after their start, after a neutral call. */
export type StartKind = "cold" | "started" | "warm";

/** What was found. */
export interface StartReport {
  readonly start: StartKind;
  /** Why not further. */
  readonly because?: string;
}

/** The start of a policy whose state is not taken yet, or never is. */
export const coldStart = (because: string): StartReport => ({ start: "cold", because });

/** A start and the state for it; none when it is cold. */
export interface FoundStart {
  readonly report: StartReport;
  readonly taken?: TakenState;
  /** Whether the state is that of any start, whatever the time and the chance: nothing has to be proved of it. */
  readonly isExact: boolean;
}
