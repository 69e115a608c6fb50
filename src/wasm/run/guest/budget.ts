/** The budget of a guest. A metered module (`rewrite/meter/`) asks for more fuel whenever it has used it up. */

/** One call's budget. */
export interface Budget {
  /**
   * Decides whether a guest without fuel may continue.
   * @returns units of fuel for the next stretch, about one simple instruction each, less where branches are not taken; 0 ends the guest by a trap
   * that it can't catch
   */
  refill(): number;
  /** Whether it has ended the guest: any later result of the call is discarded, an answer too. */
  readonly isSpent: boolean;
}

/**
 * Units between two checks: a few microseconds of usual compiled code, and up to some milliseconds of the slowest; a check takes a tenth of a
 * microsecond.
 */
export const SLICE_UNITS = 100_000;

/**
 * Units of a host function's call beside the charge in the guest's own code: about a tenth of a microsecond to half of one, in which compiled code
 * does some hundred instructions. Without it a loop around such a call would run for long between two checks.
 */
export const HOST_CALL_UNITS = 500;

/** Error of host functions for a guest whose budget is spent. The guest's handling of it does not matter: the call's result is discarded. */
class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** One shared error, because a guest may catch it and call again: recording the stack each time would take longer than anything else. */
export const BUDGET_SPENT: Error = new BudgetSpent("the budget of the call is spent");
