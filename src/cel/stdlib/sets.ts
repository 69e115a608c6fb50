/** The sets extension (spec kubernetes-cel.md 4.5). */
import type { Library } from "../declarations.js";
import { added, overloadFn } from "../declare.js";
import { BOOL, listType, typeParam } from "../types.js";
import type { Result, Value } from "../values/value.js";
import { Members } from "./membership.js";

const LIST = listType(typeParam("T"));

function membersOf(list: readonly Value[]): Members {
  const members = new Members();
  for (const element of list) members.add(element);
  return members;
}

/** Whether `wanted` of the elements of `list` (every one, or some one) are members. */
function quantified(list: readonly Value[], members: Members, wanted: "every" | "some"): Result {
  for (const element of list) {
    const isMember = members.has(element);
    if (isMember === (wanted === "some")) return isMember;
  }
  return wanted === "every";
}

const contains = (list: readonly Value[], part: readonly Value[]): Result => quantified(part, membersOf(list), "every");

function equivalent(a: readonly Value[], b: readonly Value[]): Result {
  const there = contains(a, b);
  return there === true ? contains(b, a) : there;
}

const intersects = (a: readonly Value[], b: readonly Value[]): Result => quantified(a, membersOf(b), "some");

/** `sets.contains`, `sets.equivalent` and `sets.intersects`. */
export const setsLibrary: Library = {
  name: "sets",
  functions: added(
    "1.29",
    overloadFn("sets.contains", "list_sets_contains_list", [LIST, LIST], BOOL, contains),
    overloadFn("sets.equivalent", "list_sets_equivalent_list", [LIST, LIST], BOOL, equivalent),
    overloadFn("sets.intersects", "list_sets_intersects_list", [LIST, LIST], BOOL, intersects),
  ),
};
