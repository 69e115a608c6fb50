/** The cost of the standard library's functions, at least and at most (spec kubernetes-cel.md 5.4). */
import type { CallCost, CostCall, CostNode } from "./cost-node.js";
import { patternCost, STRING_FACTOR, sizeOf } from "./library-costs.js";
import { fixed, product, type Range, scaled, smaller, sum, wrap } from "./range.js";

const COMPARISONS: ReadonlySet<string> = new Set([
  "equals",
  "not_equals",
  ...["less", "less_equals", "greater", "greater_equals"].flatMap((name) => [`${name}_string`, `${name}_bytes`]),
]);

/** Whether an overload compares its arguments from the start on. */
export const isComparison = (overload: string): boolean => COMPARISONS.has(overload);

/** The cost of comparing two arguments. */
export function comparisonCost([first, second]: readonly CostNode[]): CallCost | undefined {
  if (first === undefined || second === undefined) return undefined;
  const max = smaller(sizeOf(first).max, sizeOf(second).max);
  return { cost: scaled({ min: max > 0n ? 1n : 0n, max }, STRING_FACTOR) };
}

/** The cost of a call by itself. Logic, the ternary and list sums have rules of their own. */
export function standardCost({ overload, target, args }: CostCall): CallCost {
  const [first, second] = args;
  const compared = isComparison(overload) ? comparisonCost(args) : undefined;
  if (compared !== undefined) return compared;
  switch (overload) {
    case "string_format":
      if (target !== undefined) return { cost: scaled(sizeOf(target), STRING_FACTOR) };
      break;
    case "string_to_bytes":
      return converted(first!, ({ min, max }) => ({ min, max: wrap(max * 4n) }));
    case "bytes_to_string":
      return converted(first!, ({ min, max }) => ({ min: min / 4n, max }));
    case "strings_quote":
      return converted(first!, ({ min, max }) => ({ min: wrap(min + 2n), max: wrap(max * 2n + 2n) }));
    case "starts_with_string":
    case "ends_with_string":
      return { cost: scaled(sizeOf(first!), STRING_FACTOR) };
    case "in_list":
      return { cost: sizeOf(second!) };
    case "matches_string":
      if (target !== undefined && first !== undefined) return { cost: patternCost(target, first) };
      break;
    case "matches":
      if (first !== undefined && second !== undefined) return { cost: patternCost(first, second) };
      break;
    case "contains_string":
      if (target !== undefined) {
        return { cost: product(scaled(sizeOf(target), STRING_FACTOR), scaled(sizeOf(first!), STRING_FACTOR)) };
      }
      break;
    case "add_list":
      return { cost: fixed(1n), size: sum(sizeOf(first!), sizeOf(second!)) };
    case "add_string":
    case "add_bytes": {
      const size = sum(sizeOf(first!), sizeOf(second!));
      return { cost: scaled(size, STRING_FACTOR), size };
    }
    default:
  }
  return { cost: fixed(1n) };
}

function converted(argument: CostNode, resize: (size: Range) => Range): CallCost {
  const size = sizeOf(argument);
  return { cost: scaled(size, STRING_FACTOR), size: resize(size) };
}
