/** Keys in the paths of JSON Patches, in mutations only (spec kubernetes-cel.md 4.13). */
import type { Library } from "../declarations.js";
import { overloadFn } from "../declare.js";
import { STRING } from "../types.js";

const escapeKey = (key: string): string => key.replace(/~/g, "~0").replace(/\//g, "~1");

/** `jsonpatch.escapeKey`. */
export const jsonPatchLibrary: Library = {
  name: "jsonpatch",
  functions: [overloadFn("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", [STRING], STRING, escapeKey)],
};
