/** Semantic versions (spec kubernetes-cel.md 4.10). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { makeInt } from "../values/numbers.js";
import { SemverValue } from "./semver-value.js";

const SEMVER = opaqueType("kubernetes.Semver");

const isSemver = (text: string, normalise = false): boolean =>
  !(SemverValue.parse(text, normalise) instanceof CelError);

type Semver = SemverValue;

/** One of the three numbers: a uint64, of which the bits are taken for an int64. */
const part = (index: 0 | 1 | 2) => (version: Semver) => makeInt(BigInt.asIntN(64, version.numbers[index]));

/** `semver`, `isSemver`, and the parts and comparison of versions. */
export const semverLibrary: Library = {
  name: "semver",
  functions: added(
    "1.33",
    fn(
      "semver",
      overload("string_to_semver", [STRING], SEMVER, SemverValue.parse),
      overload("string_bool_to_semver", [STRING, BOOL], SEMVER, SemverValue.parse),
    ),
    fn(
      "isSemver",
      overload("is_semver_string", [STRING], BOOL, isSemver),
      overload("is_semver_string_bool", [STRING, BOOL], BOOL, isSemver),
    ),
    fn(
      "isGreaterThan",
      method("semver_is_greater_than", [SEMVER, SEMVER], BOOL, (a: Semver, b: Semver) => a.compareTo(b) > 0),
    ),
    fn(
      "isLessThan",
      method("semver_is_less_than", [SEMVER, SEMVER], BOOL, (a: Semver, b: Semver) => a.compareTo(b) < 0),
    ),
    fn(
      "compareTo",
      method("semver_compare_to", [SEMVER, SEMVER], INT, (a: Semver, b: Semver) => a.compareTo(b)),
    ),
    fn("major", method("semver_major", [SEMVER], INT, part(0))),
    fn("minor", method("semver_minor", [SEMVER], INT, part(1))),
    fn("patch", method("semver_patch", [SEMVER], INT, part(2))),
  ),
};
