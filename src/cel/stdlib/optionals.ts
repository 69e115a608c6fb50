/** Optional values (spec kubernetes-cel.md 4.6). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, listType, optionalType, typeParam } from "../types.js";

const V = typeParam("V");
const OPTIONAL = optionalType(V);

/**
 * The functions of optionals. `or` and `orValue` carry no implementation: their argument is evaluated only when needed, so the compiler
 * builds them.
 */
export const optionalLibrary: Library = {
  name: "optionals",
  functions: added(
    128,
    fn("optional.of", overload("optional_of", [V], OPTIONAL)),
    fn("optional.ofNonZeroValue", overload("optional_ofNonZeroValue", [V], OPTIONAL)),
    fn("optional.none", overload("optional_none", [], OPTIONAL)),
    fn("value", method("optional_value", [OPTIONAL], V)),
    fn("hasValue", method("optional_hasValue", [OPTIONAL], BOOL)),
    fn("or", method("optional_or_optional", [OPTIONAL, OPTIONAL], OPTIONAL)),
    fn("orValue", method("optional_orValue_value", [OPTIONAL, V], V)),
    fn("first", method("list_first", [listType(V)], OPTIONAL)),
    fn("last", method("list_last", [listType(V)], OPTIONAL)),
    fn("optional.unwrap", overload("optional_unwrap", [listType(OPTIONAL)], listType(V))),
    fn("unwrapOpt", method("optional_unwrapOpt", [listType(OPTIONAL)], listType(V))),
  ),
};
