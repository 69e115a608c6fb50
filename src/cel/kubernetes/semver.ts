/** Semantic versions (spec kubernetes-cel.md 4.10). */
import type { Library } from "../declarations.js";
import { added, fn, methodFn, overload } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { makeInt } from "../values/numbers.js";
import { SemverValue } from "./semver-value.js";

const SEMVER = opaqueType("kubernetes.Semver");

const isSemver = (text: string, normalise = false): boolean =>
  !(SemverValue.parse(text, normalise) instanceof CelError);

type Semver = SemverValue;

const isGreater = (a: Semver, b: Semver): boolean => a.compareTo(b) > 0;
const isLess = (a: Semver, b: Semver): boolean => a.compareTo(b) < 0;

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
    methodFn("isGreaterThan", "semver_is_greater_than", [SEMVER, SEMVER], BOOL, isGreater),
    methodFn("isLessThan", "semver_is_less_than", [SEMVER, SEMVER], BOOL, isLess),
    methodFn("compareTo", "semver_compare_to", [SEMVER, SEMVER], INT, (a: Semver, b: Semver) => a.compareTo(b)),
    methodFn("major", "semver_major", [SEMVER], INT, part(0)),
    methodFn("minor", "semver_minor", [SEMVER], INT, part(1)),
    methodFn("patch", "semver_patch", [SEMVER], INT, part(2)),
  ),
};
