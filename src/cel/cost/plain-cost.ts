/** The cost of a call at run time where Kubernetes' estimators do not apply (spec certificate-request-policy.md 5.6). */
import type { CostRule } from "../compiler/plan.js";
import { costSize } from "../operators/size.js";
import type { Result } from "../values/value.js";
import { LIST_COST, overloadCost } from "./runtime-cost.js";

/** The share of a text that one unit of cost walks through. */
const TEXT = 0.1;

const size = (args: readonly Result[], index: number): number => costSize(args[index] ?? null);
const tenth = (length: number): number => Math.ceil(length * TEXT);

const transformed: CostRule = (args, result) => 1 + tenth(size(args, 0)) + costSize(result);
const searched: CostRule = (args) => 1 + tenth(size(args, 0) * size(args, 1));
const replaced: CostRule = (args, result) => 1 + tenth((size(args, 0) || 1) * (size(args, 1) || 1)) + costSize(result);
const divided: CostRule = (args, result) => 1 + LIST_COST + tenth(size(args, 0) + 1) + costSize(result);
const joined: CostRule = (args, result) => 1 + tenth(size(args, 0) + 1) + costSize(result);

/** The newest version of the strings extension, by overload. */
const STRINGS: ReadonlyMap<string, CostRule> = new Map([
  ["string_char_at_int", (args) => 2 + tenth(size(args, 0))],
  ["string_index_of_string", searched],
  ["string_index_of_string_int", searched],
  ["string_last_index_of_string", searched],
  ["string_last_index_of_string_int", searched],
  ["string_lower_ascii", transformed],
  ["string_upper_ascii", transformed],
  ["string_substring_int", transformed],
  ["string_substring_int_int", transformed],
  ["string_trim", transformed],
  ["string_reverse", transformed],
  ["string_replace_string_string", replaced],
  ["string_replace_string_string_int", replaced],
  ["string_split_string", divided],
  ["string_split_string_int", divided],
  ["list_join", joined],
  ["list_join_string", joined],
]);

/** The cost of a call with this overload left by the checker (`undefined`: several). */
export const plainCallCost = (_name: string, overload: string | undefined): number | CostRule =>
  overload === undefined ? 1 : (STRINGS.get(overload) ?? overloadCost(overload) ?? 1);
