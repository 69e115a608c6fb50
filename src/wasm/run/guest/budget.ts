/** How long a guest may run. A metered module (`meter/`) asks whenever it has used up what it was given. */

/** One call's budget. */
export interface Budget {
  /**
   * The guest has used up its fuel: looks whether it may go on.
   * @returns units of fuel for the next stretch, about one simple instruction each, less where branches are not taken; 0 ends the guest by a trap that it can't catch
   */
  refill(): number;
  /** Whether it has ended the guest: whatever the call comes to after that is void, an answer too. */
  readonly isSpent: boolean;
}

/**
 * Units between two looks: a few microseconds of compiled code as policies have it, and up to some milliseconds of the slowest there is; a look takes a
 * tenth of a microsecond.
 */
export const SLICE_UNITS = 100_000;

/**
 * Units that a call of a host's function costs beside what the guest's own code is charged for it: about a tenth of a microsecond to half of one, in which
 * compiled code does some hundred instructions. Without it a loop around such a call would run for long between two looks.
 */
export const HOST_CALL_UNITS = 500;

/** The host has stopped to work for a guest whose budget is spent. What becomes of it in the guest does not matter: the call is void. */
class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** Always the same, because a guest may catch it and ask again: noting the stack each time would take longer than anything else. */
export const BUDGET_SPENT: Error = new BudgetSpent("the budget of the call is spent");
