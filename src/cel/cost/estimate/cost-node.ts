/** What the cost rules of functions know of an argument. */
import type { Expr } from "../../ast.js";
import type { Type } from "../../types.js";
import type { Range } from "./range.js";

/** An argument or receiver. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: Type;
  /** Its size, as far as it is known. */
  readonly size: Range | undefined;
}

/** What a call costs by itself, without the costs of its arguments; the size of its result where the rule knows it. */
export interface CallCost {
  readonly cost: Range;
  readonly size?: Range;
}

/** A call as the cost rules see it. */
export interface CostCall {
  readonly function: string;
  readonly overload: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
}
