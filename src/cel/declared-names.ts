/** The names that an environment declares. */
import type { Declarations } from "./checked.js";
import type { MacroTable } from "./macros/macro.js";
import type { DeclaredNames } from "./public-types.js";

/** A name that an expression can contain; operators have others. */
const WRITTEN = /^[a-zA-Z][\w.]*$/;
/** Macros that are written as methods of a namespace. */
const NAMESPACES: Readonly<Record<string, string>> = {
  bind: "cel",
  block: "cel",
  index: "cel",
  iterVar: "cel",
  accuVar: "cel",
  greatest: "math",
  least: "math",
};

/** The names, sorted. */
export function declaredNames(declarations: Declarations, { macros }: MacroTable): DeclaredNames {
  const functions = new Set<string>();
  const methods = new Set<string>();
  for (const { name, overloads } of declarations.functions.values()) {
    if (!WRITTEN.test(name)) continue;
    for (const { member } of overloads) (member ? methods : functions).add(name);
  }
  for (const { name, member } of macros) {
    const namespace = Object.hasOwn(NAMESPACES, name) ? NAMESPACES[name] : undefined;
    if (namespace !== undefined) functions.add(`${namespace}.${name}`);
    else (member ? methods : functions).add(name);
  }
  return {
    functions: [...functions].sort(),
    methods: [...methods].sort(),
    variables: Array.from(declarations.variables, ([name, type]) => ({ name, type })),
  };
}
