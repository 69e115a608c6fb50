/** Size and the tests on strings that belong to the language itself (spec kubernetes-cel.md 3.3). */
import type { Library } from "../declarations.js";
import { fn, method, overload } from "../declare.js";
import { BOOL, BYTES, INT, listType, mapType, STRING, typeParam } from "../types.js";

const A = typeParam("A");
const B = typeParam("B");

/** `size`, `contains`, `startsWith`, `endsWith` and `matches`. */
export const textLibrary: Library = {
  name: "text",
  functions: [
    fn(
      "size",
      overload("size_bytes", [BYTES], INT),
      method("bytes_size", [BYTES], INT),
      overload("size_list", [listType(A)], INT),
      method("list_size", [listType(A)], INT),
      overload("size_map", [mapType(A, B)], INT),
      method("map_size", [mapType(A, B)], INT),
      overload("size_string", [STRING], INT),
      method("string_size", [STRING], INT),
    ),
    fn("contains", method("contains_string", [STRING, STRING], BOOL)),
    fn("endsWith", method("ends_with_string", [STRING, STRING], BOOL)),
    fn("startsWith", method("starts_with_string", [STRING, STRING], BOOL)),
    fn("matches", overload("matches", [STRING, STRING], BOOL), method("matches_string", [STRING, STRING], BOOL)),
  ],
};
