/** The regex extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { Library } from "../declarations.js";
import { fn, overload } from "../declare.js";
import { INT, listType, optionalType, STRING } from "../types.js";

/** `regex.replace`, `regex.extract` and `regex.extractAll`. */
export const regexLibrary: Library = {
  name: "regex",
  functions: [
    fn("regex.extract", overload("regex_extract_string_string", [STRING, STRING], optionalType(STRING))),
    fn("regex.extractAll", overload("regex_extractAll_string_string", [STRING, STRING], listType(STRING))),
    fn(
      "regex.replace",
      overload("regex_replace_string_string_string", [STRING, STRING, STRING], STRING),
      overload("regex_replace_string_string_string_int", [STRING, STRING, STRING, INT], STRING),
    ),
  ],
};
