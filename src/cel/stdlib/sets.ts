/** The sets extension (spec kubernetes-cel.md 4.5). */
import type { Library } from "../declarations.js";
import { added, fn, overload } from "../declare.js";
import { BOOL, listType, typeParam } from "../types.js";

const LIST = listType(typeParam("T"));

/** `sets.contains`, `sets.equivalent` and `sets.intersects`. */
export const setsLibrary: Library = {
  name: "sets",
  functions: added(
    129,
    fn("sets.contains", overload("list_sets_contains_list", [LIST, LIST], BOOL)),
    fn("sets.equivalent", overload("list_sets_equivalent_list", [LIST, LIST], BOOL)),
    fn("sets.intersects", overload("list_sets_intersects_list", [LIST, LIST], BOOL)),
  ),
};
