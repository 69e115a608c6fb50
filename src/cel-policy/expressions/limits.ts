/** Cost limits of Kubernetes (spec validating-admission-policy.md 9.1), in units of the CEL cost model. */

/** One evaluation of one expression or variable. */
export const EXPRESSION_COST_LIMIT = 1_000_000;
/** The validations and message expressions of one evaluation; and again its audit annotations. */
export const EVALUATION_COST_BUDGET = 10_000_000;
/** The match conditions of one evaluation. */
export const CONDITIONS_COST_BUDGET = 2_500_000;
/** Longest result of a message expression, in bytes. */
export const MESSAGE_MAX_BYTES = 5_120;

/** What is said when a budget is used up. */
export const OUT_OF_BUDGET =
  "validation failed due to running out of cost budget, no further validation rules will be run";
