/** The expressions of mutations (spec mutating-admission-policy.md 4 and 5). */
import type { Dialect } from "../../cel-policy/dialect.js";
import { MUTATION_TYPES } from "./mutation-types.js";

/**
 * The dialect of mutations: that of a policy's other expressions, and what only mutations know: the types `Object…` and `JSONPatch`, and
 * `jsonpatch.escapeKey`. Variables and match conditions are compiled in the other one, mutations in a compiler of this one.
 */
export function mutationDialect(dialect: Dialect): Dialect {
  const { environment } = dialect;
  const extensions = [...(environment.extensions ?? []), "jsonpatch" as const];
  return { ...dialect, environment: { ...environment, extensions, typeProvider: MUTATION_TYPES, keepsSums: true } };
}
