/** How long a guest may run. A metered module (`meter/`) asks whenever it has used up what it was given. */

/** One call's budget. */
export interface Budget {
  /**
   * The guest has used up its fuel: looks whether it may go on.
   * @returns units of fuel for the next stretch, about one simple instruction each; 0 ends the guest by a trap that it can't catch
   */
  refill(): number;
  /** Whether it has ended the guest: whatever the call comes to after that is void, an answer too. */
  readonly isSpent: boolean;
}

/** Units between two looks: some tens of microseconds of compiled code, a look takes a tenth of one. */
export const SLICE_UNITS = 100_000;
