/** The function that two-variable comprehension macros expand to (spec kubernetes-cel.md 1.8). */
import type { Library } from "../declarations.js";
import { added, fn, overload } from "../declare.js";
import { mapType, typeParam } from "../types.js";

const K = typeParam("K");
const V = typeParam("V");
const MAP = mapType(K, V);

/** `cel.@mapInsert`, without an implementation: the compiler adds to an accumulator in place. */
export const comprehensionLibrary: Library = {
  name: "comprehensions",
  functions: added(
    "1.32",
    fn(
      "cel.@mapInsert",
      overload("@mapInsert_map_key_value", [MAP, K, V], MAP),
      overload("@mapInsert_map_map", [MAP, MAP], MAP),
    ),
  ),
};
