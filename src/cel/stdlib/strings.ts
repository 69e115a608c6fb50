/** The strings extension (spec kubernetes-cel.md 4.2). Positions are code points. */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { DYN, INT, listType, STRING } from "../types.js";

const functions: readonly FunctionDeclaration[] = [
  fn("charAt", method("string_char_at_int", [STRING, INT], STRING)),
  fn(
    "indexOf",
    method("string_index_of_string", [STRING, STRING], INT),
    method("string_index_of_string_int", [STRING, STRING, INT], INT),
  ),
  fn(
    "lastIndexOf",
    method("string_last_index_of_string", [STRING, STRING], INT),
    method("string_last_index_of_string_int", [STRING, STRING, INT], INT),
  ),
  fn("lowerAscii", method("string_lower_ascii", [STRING], STRING)),
  fn(
    "replace",
    method("string_replace_string_string", [STRING, STRING, STRING], STRING),
    method("string_replace_string_string_int", [STRING, STRING, STRING, INT], STRING),
  ),
  fn(
    "split",
    method("string_split_string", [STRING, STRING], listType(STRING)),
    method("string_split_string_int", [STRING, STRING, INT], listType(STRING)),
  ),
  fn(
    "substring",
    method("string_substring_int", [STRING, INT], STRING),
    method("string_substring_int_int", [STRING, INT, INT], STRING),
  ),
  fn("trim", method("string_trim", [STRING], STRING)),
  fn("upperAscii", method("string_upper_ascii", [STRING], STRING)),
  fn(
    "join",
    method("list_join", [listType(STRING)], STRING),
    method("list_join_string", [listType(STRING), STRING], STRING),
  ),
  ...added(129, fn("strings.quote", overload("strings_quote", [STRING], STRING))),
];

/** The strings extension as Kubernetes has it: version 2, whose `format` groups digits. */
export const stringsLibrary: Library = {
  name: "strings",
  functions: [...functions, ...added(129, fn("format", method("string_format", [STRING, listType(DYN)], STRING)))],
};

/** The strings extension outside Kubernetes: its latest version, with `reverse` and a plain `format` (spec kubernetes-cel.md 4.14). */
export const latestStringsLibrary: Library = {
  name: "strings",
  functions: [
    ...functions,
    fn("format", method("string_format", [STRING, listType(DYN)], STRING)),
    fn("reverse", method("string_reverse", [STRING], STRING)),
  ],
};
