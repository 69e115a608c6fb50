/** What the cost rules of functions know of an argument. */
import type { Expr } from "../../ast.js";
import type { Type } from "../../types.js";
import type { Range } from "./range.js";

/**
 * Sizes known from outside, such as the limits of a schema. `path` names the value from a variable on: field names, `@items`, `@keys`,
 * `@values`; empty when it can't be named.
 */
export type KnownSize = (path: readonly string[], type: Type) => Range | undefined;

/** An argument or receiver. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: Type;
  readonly path: readonly string[];
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
  readonly knownSize: KnownSize;
}
