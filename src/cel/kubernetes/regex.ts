/** Kubernetes' regular expression functions (spec kubernetes-cel.md 4.5). */
import type { Library } from "../declarations.js";
import { fn, method } from "../declare.js";
import { INT, listType, STRING } from "../types.js";

/** `find` and `findAll`. */
export const kubernetesRegexLibrary: Library = {
  name: "kubernetes-regex",
  functions: [
    fn("find", method("string_find_string", [STRING, STRING], STRING)),
    fn(
      "findAll",
      method("string_find_all_string", [STRING, STRING], listType(STRING)),
      method("string_find_all_string_int", [STRING, STRING, INT], listType(STRING)),
    ),
  ],
};
