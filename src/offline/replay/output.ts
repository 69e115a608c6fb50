/** Where results go. */
import type { Changed } from "./changed.js";
import type { Tally } from "./tally.js";

/** What is told at the end. */
export interface Summary {
  readonly tally: Tally;
  readonly unreadable: {
    readonly count: number;
    readonly first: readonly { readonly place: string; readonly why: string }[];
  };
  /** How many, by reason. */
  readonly skipped: readonly (readonly [why: string, count: number])[];
  /** Of how many requests something is not as it was, by what. */
  readonly doubts: readonly (readonly [what: string, count: number])[];
}

/** Takes results in order. */
export interface Output {
  /** An answer that is not as it was, or one where nothing is known of before that is a denial. */
  change(changed: Changed): Promise<void>;
  /** All has been said. */
  end(summary: Summary): Promise<void>;
}
