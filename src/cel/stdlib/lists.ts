/** The lists extension (spec kubernetes-cel.md 4.4): the functions that came with environment 1.34. */
import type { Library } from "../declarations.js";
import { added, dynamicFn, method, methodFn, overloadFn } from "../declare.js";
import { DYN, INT, listType, ORDERED_TYPES, runtimeTypeName, typeParam } from "../types.js";
import type { Value } from "../values/value.js";
import { distinct, flatten, range, slice, sort, sortByKeys } from "./list-functions.js";

const T = typeParam("T");

/** The element types that can be sorted, under the names that overload ids have for them. */
const sortable = ORDERED_TYPES.map((type) => [runtimeTypeName(type), type] as const);

/** `slice`, `flatten`, `sort`, `sortBy`'s helper, `lists.range`, `reverse` and `distinct`. */
export const listsLibrary: Library = {
  name: "lists",
  functions: added(
    "1.34",
    methodFn("slice", "list_slice", [listType(T), INT, INT], listType(T), slice),
    dynamicFn(
      "flatten",
      flatten,
      method("list_flatten", [listType(listType(T))], listType(T), flatten),
      method("list_flatten_int", [listType(DYN), INT], listType(DYN), flatten),
    ),
    dynamicFn(
      "sort",
      sort,
      ...sortable.map(([name, type]) => method(`list_${name}_sort`, [listType(type)], listType(type), sort)),
    ),
    dynamicFn(
      "@sortByAssociatedKeys",
      sortByKeys,
      ...sortable.map(([name, type]) =>
        method(`list_${name}_sortByAssociatedKeys`, [listType(T), listType(type)], listType(T), sortByKeys),
      ),
    ),
    overloadFn("lists.range", "lists_range", [INT], listType(INT), range),
    methodFn("reverse", "list_reverse", [listType(T)], listType(T), (list: readonly Value[]) => [...list].reverse()),
    methodFn("distinct", "list_distinct", [listType(T)], listType(T), distinct),
  ),
};
