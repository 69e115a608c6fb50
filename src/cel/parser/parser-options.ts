/** The syntax that the grammar accepts beyond the core: macros and optional syntax. */
import type { MacroTable } from "../macros/macro.js";

/** The language's variable parts. Made once per environment from its sets of macros. */
export interface ParserOptions {
  readonly macros: MacroTable;
  /** `.?f`, `[?k]`, `[?e]`, `{?k: e}`, `T{?f: e}` (Kubernetes 1.28 and later). */
  readonly optionalSyntax: boolean;
  /** Names of fields between backquotes. */
  readonly quotedNames: boolean;
}
