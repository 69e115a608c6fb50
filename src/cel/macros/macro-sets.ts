/** Which macros and syntax an environment has (spec kubernetes-cel.md 4.1). */
import { isSince, type KubernetesVersion } from "../kubernetes-version.js";
import type { ParserOptions } from "../parser/parser-options.js";
import type { Flavour, LanguageExtension } from "../public-types.js";
import { CEL_BIND, OPTIONAL_MACROS, SORT_BY } from "./binding-macros.js";
import { BLOCK_MACROS } from "./block-macros.js";
import { type Macro, MacroTable } from "./macro.js";
import { MATH_MACROS } from "./math-macros.js";
import { EXISTS_ONE_CAMEL, STANDARD_MACROS } from "./standard-macros.js";
import { TWO_VARIABLE_MACROS } from "./two-variable-macros.js";

/** The first version of Kubernetes with optional values. */
const OPTIONALS_SINCE: KubernetesVersion = "1.28";
/** The first version of Kubernetes with two-variable comprehensions. */
const TWO_VARIABLES_SINCE: KubernetesVersion = "1.32";
/** The first version of Kubernetes with `sortBy`. */
const SORT_BY_SINCE: KubernetesVersion = "1.34";
/**
 * The first version of Kubernetes whose expressions may quote names. Servers of 1.37 are the first that do, whatever version new expressions
 * keep to: there the one before.
 */
const QUOTED_NAMES_SINCE: KubernetesVersion = "1.36";

/**
 * The parser's options for an environment, and for `kubernetes` and `cel-go` the extensions that they have beside their own. `standard` has every
 * macro, `cel-go` the language's alone.
 */
export function parserOptions(
  flavour: Flavour,
  version: KubernetesVersion,
  extensions: readonly LanguageExtension[] = [],
): ParserOptions {
  const since = (first: KubernetesVersion) =>
    flavour === "standard" || (flavour === "kubernetes" && isSince(version, first));
  const macros: Macro[] = [...STANDARD_MACROS];
  if (since(OPTIONALS_SINCE)) macros.push(...OPTIONAL_MACROS);
  if (since(TWO_VARIABLES_SINCE)) macros.push(...TWO_VARIABLE_MACROS);
  if (since(SORT_BY_SINCE)) macros.push(SORT_BY);
  if (flavour === "standard") macros.push(EXISTS_ONE_CAMEL, CEL_BIND, ...BLOCK_MACROS, ...MATH_MACROS);
  else {
    if (extensions.includes("bindings")) macros.push(CEL_BIND);
    if (extensions.includes("math")) macros.push(...MATH_MACROS);
  }
  const quotedNames = flavour !== "kubernetes" || isSince(version, QUOTED_NAMES_SINCE);
  return { macros: new MacroTable(macros), optionalSyntax: since(OPTIONALS_SINCE), quotedNames };
}
