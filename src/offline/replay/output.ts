/** Outputs for results. */
import type { Changed } from "./changed.js";
import type { Tally } from "./tally.js";

/** The summary at the end. */
export interface Summary {
  readonly tally: Tally;
  readonly unreadable: {
    readonly count: number;
    readonly first: readonly { readonly place: string; readonly why: string }[];
  };
  /** Skipped documents, by reason. */
  readonly skipped: readonly (readonly [why: string, count: number])[];
  /** Numbers of requests that are incomplete, by the missing part. */
  readonly doubts: readonly (readonly [what: string, count: number])[];
}

/** Receives results in order. */
export interface Output {
  /** Receives a changed answer, or a denial without a known former answer. */
  change(changed: Changed): Promise<void>;
  /** Ends the output. */
  end(summary: Summary): Promise<void>;
}
