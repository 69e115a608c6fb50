/** The start mode of a policy's instances, and the reason for it. */
import type { TakenState } from "./captured-state.js";

/** The start mode of a policy's instances: from nothing, after their start, after a neutral call. */
export type StartKind = "cold" | "started" | "warm";

/** The chosen start mode. */
export interface StartReport {
  readonly start: StartKind;
  /** The reason why not a warmer one. */
  readonly because?: string;
}

/** The start of a policy whose state is not captured yet, or never is. */
export const coldStart = (because: string): StartReport => ({ start: "cold", because });

/** A start and the state for it; none for a cold start. */
export interface FoundStart {
  readonly report: StartReport;
  readonly taken?: TakenState;
  /** Whether the state is that of any start, whatever the time and the random numbers: it needs no trial. */
  readonly isExact: boolean;
}
