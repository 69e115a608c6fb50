/** Keys in JSON patch paths (spec kubernetes-cel.md 4.13): for mutating policies only, so not part of any environment's base set. */
import type { Library } from "../declarations.js";
import { fn, overload } from "../declare.js";
import { STRING } from "../types.js";

/** `~` and `/` have a meaning of their own in a path. */
const escapeKey = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** `jsonpatch.escapeKey`. */
export const jsonPatchLibrary: Library = {
  name: "json-patch",
  functions: [fn("jsonpatch.escapeKey", overload("string_jsonpatch_escapeKey_string", [STRING], STRING, escapeKey))],
};
