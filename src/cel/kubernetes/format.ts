/** Named formats (spec kubernetes-cel.md 4.11). */
import type { Library } from "../declarations.js";
import { added, methodFn, overloadFn } from "../declare.js";
import { listType, opaqueType, optionalType, STRING } from "../types.js";
import { Optional } from "../values/value.js";
import { type FormatValue, NAMED_FORMATS } from "./format-value.js";

const FORMAT = opaqueType("kubernetes.NamedFormat");

function named(name: string): Optional {
  const format = NAMED_FORMATS.get(name);
  return format === undefined ? Optional.NONE : Optional.of(format);
}

function validate({ check }: FormatValue, text: string): Optional {
  const problems = check(text);
  return problems.length === 0 ? Optional.NONE : Optional.of(problems);
}

/** `format.NAME()`, `format.named` and `validate`. */
export const formatLibrary: Library = {
  name: "format",
  functions: added(
    "1.31",
    ...Array.from(NAMED_FORMATS, ([name, format]) =>
      overloadFn(`format.${name}`, `format.${name}`, [], FORMAT, () => format),
    ),
    overloadFn("format.named", "format-named", [STRING], optionalType(FORMAT), named),
    methodFn("validate", "format-validate", [FORMAT, STRING], optionalType(listType(STRING)), validate),
  ),
};
