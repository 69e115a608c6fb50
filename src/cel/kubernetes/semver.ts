/** Semantic versions (spec kubernetes-cel.md 4.10). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";

const SEMVER = opaqueType("kubernetes.Semver");

/** `semver`, `isSemver`, and the parts and comparison of versions. */
export const semverLibrary: Library = {
  name: "semver",
  functions: added(
    133,
    fn(
      "semver",
      overload("string_to_semver", [STRING], SEMVER),
      overload("string_bool_to_semver", [STRING, BOOL], SEMVER),
    ),
    fn(
      "isSemver",
      overload("is_semver_string", [STRING], BOOL),
      overload("is_semver_string_bool", [STRING, BOOL], BOOL),
    ),
    fn("isGreaterThan", method("semver_is_greater_than", [SEMVER, SEMVER], BOOL)),
    fn("isLessThan", method("semver_is_less_than", [SEMVER, SEMVER], BOOL)),
    fn("compareTo", method("semver_compare_to", [SEMVER, SEMVER], INT)),
    fn("major", method("semver_major", [SEMVER], INT)),
    fn("minor", method("semver_minor", [SEMVER], INT)),
    fn("patch", method("semver_patch", [SEMVER], INT)),
  ),
};
