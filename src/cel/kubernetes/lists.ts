/** Kubernetes' own list functions (spec kubernetes-cel.md 4.4). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { added, fn, method } from "../declare.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  UINT,
} from "../types.js";

const A = typeParam("A");

/** The element kinds with an order, under the names that overload ids have for them. */
const ordered: readonly (readonly [string, Type])[] = [
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["bool", BOOL],
  ["duration", DURATION],
  ["timestamp", TIMESTAMP],
  ["string", STRING],
  ["bytes", BYTES],
];

/** The element kinds that can be summed. */
const summable = ordered.filter(([name]) => ["int", "uint", "double", "duration"].includes(name));

const extreme = (name: "min" | "max"): FunctionDeclaration =>
  fn(name, ...ordered.map(([kind, type]) => method(`list_${kind}_${name}_${kind}`, [listType(type)], type)));

/** `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf` and `includes`. */
export const kubernetesListsLibrary: Library = {
  name: "kubernetes-lists",
  functions: [
    fn("isSorted", ...ordered.map(([kind, type]) => method(`list_${kind}_is_sorted_bool`, [listType(type)], BOOL))),
    fn("sum", ...summable.map(([kind, type]) => method(`list_${kind}_sum_${kind}`, [listType(type)], type))),
    extreme("max"),
    extreme("min"),
    fn("indexOf", method("list_a_index_of_int", [listType(A), A], INT)),
    fn("lastIndexOf", method("list_a_last_index_of_int", [listType(A), A], INT)),
    ...added(137, fn("includes", method("list_includes_dyn_dyn", [DYN, DYN], BOOL))),
  ],
};
