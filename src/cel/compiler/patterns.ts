/**
 * Calls whose pattern is constant: compiled once, when the program is built (spec kubernetes-cel.md 3.3 and 4.5).
 */
import type { CelError } from "../values/cel-error.js";
import type { Callee } from "./plan.js";

/**
 * The callee with its pattern compiled; the error of a bad pattern; `undefined` for functions that have none.
 * @param pattern the constant second argument
 */
export function bindPattern(_name: string, _pattern: string, _callee: Callee): Callee | CelError | undefined {
  return undefined;
}
