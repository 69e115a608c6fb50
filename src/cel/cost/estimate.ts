/** The static cost estimate (spec kubernetes-cel.md 5.4). */
import type { CheckedExpr } from "../checked.js";
import type { KnownSize } from "./estimate/cost-node.js";
import { Estimator } from "./estimate/estimator.js";

export type { KnownSize } from "./estimate/cost-node.js";

/**
 * What evaluating the expression costs at least and at most: uint64, saturating.
 *
 * @param knownSize sizes of input values, such as a schema's limits; without it only literals have a known size
 */
export function estimateCost(
  checked: CheckedExpr,
  knownSize: KnownSize = () => undefined,
): { readonly min: bigint; readonly max: bigint } {
  return new Estimator(checked, knownSize).cost(checked.expr);
}
