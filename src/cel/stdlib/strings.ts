/** The strings extension (spec kubernetes-cel.md 4.2). Positions are code points. */
import type { FunctionDeclaration, Library, Overload } from "../declarations.js";
import { added, fn, method, methodFn, type Native, overloadFn } from "../declare.js";
import { DYN, INT, listType, STRING } from "../types.js";
import { groupedFormat } from "./format/grouped.js";
import { plainFormat } from "./format/plain.js";
import { join, lowerAscii, quote, replace, reverse, split, trim, upperAscii } from "./string-edits.js";
import { charAt, indexOf, lastIndexOf, substring } from "./string-positions.js";

const functions: readonly FunctionDeclaration[] = [
  methodFn("charAt", "string_char_at_int", [STRING, INT], STRING, charAt),
  fn(
    "indexOf",
    method("string_index_of_string", [STRING, STRING], INT, indexOf),
    method("string_index_of_string_int", [STRING, STRING, INT], INT, indexOf),
  ),
  fn(
    "lastIndexOf",
    method("string_last_index_of_string", [STRING, STRING], INT, lastIndexOf),
    method("string_last_index_of_string_int", [STRING, STRING, INT], INT, lastIndexOf),
  ),
  methodFn("lowerAscii", "string_lower_ascii", [STRING], STRING, lowerAscii),
  fn(
    "replace",
    method("string_replace_string_string", [STRING, STRING, STRING], STRING, replace),
    method("string_replace_string_string_int", [STRING, STRING, STRING, INT], STRING, replace),
  ),
  fn(
    "split",
    method("string_split_string", [STRING, STRING], listType(STRING), split),
    method("string_split_string_int", [STRING, STRING, INT], listType(STRING), split),
  ),
  fn(
    "substring",
    method("string_substring_int", [STRING, INT], STRING, substring),
    method("string_substring_int_int", [STRING, INT, INT], STRING, substring),
  ),
  methodFn("trim", "string_trim", [STRING], STRING, trim),
  methodFn("upperAscii", "string_upper_ascii", [STRING], STRING, upperAscii),
  fn(
    "join",
    method("list_join", [listType(STRING)], STRING, join),
    method("list_join_string", [listType(STRING), STRING], STRING, join),
  ),
  ...added("1.29", overloadFn("strings.quote", "strings_quote", [STRING], STRING, quote)),
];

const format = (implementation: Native): Overload => ({
  ...method("string_format", [STRING, listType(DYN)], STRING, implementation),
  sequential: true,
});

/** The strings extension of Kubernetes: version 2, whose `format` groups digits. */
export const stringsLibrary: Library = {
  name: "strings",
  functions: [...functions, ...added("1.29", fn("format", format(groupedFormat)))],
};

/** The strings extension outside Kubernetes: its latest version, with `reverse` and a plain `format` (spec kubernetes-cel.md 4.14). */
export const latestStringsLibrary: Library = {
  name: "strings",
  functions: [
    ...functions,
    fn("format", format(plainFormat)),
    methodFn("reverse", "string_reverse", [STRING], STRING, reverse),
  ],
};
