/** The facts about an argument that the cost rules of functions use. */
import type { Expr } from "../../ast.js";
import type { Type } from "../../types.js";
import type { Range } from "./range.js";
import type { Size } from "./size.js";

/** An argument or receiver. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: Type;
  /** Its size, as far as it is known. */
  readonly size: Size | undefined;
}

/** The cost of a call without its arguments' costs; the size of its result where the rule knows it. */
export interface CallCost {
  readonly cost: Range;
  readonly size?: Size;
}

/** A call as the cost rules see it. */
export interface CostCall {
  readonly function: string;
  readonly overload: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
}
