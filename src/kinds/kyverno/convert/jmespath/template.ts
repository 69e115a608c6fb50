/** Values with variables: `{{ … }}` in texts, lists and maps. */
import { type Cel, literal } from "../cel-text.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";

/**
 * A JSON value in which texts may have variables, and in a map keys, too. Without variables it is a constant (`constant` is set). A text that is one variable only
 * keeps the variable's type; inside other text it is printed as Kyverno prints it.
 */
export function template(value: unknown, _scope: Scope): Term {
  return { cel: literal(value), type: "dyn", nullable: value === null, fails: false, constant: { value } };
}

/** Whether a value has variables anywhere. */
export function hasVariables(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes("{{");
}

/** A message with its variables: a plain text without any. */
export function messageOf(text: string, scope: Scope): string | Cel {
  const { cel, constant } = template(text, scope);
  return typeof constant?.value === "string" ? constant.value : cel;
}
