/** The expressions of mutating policies (spec mutating-admission-policy.md 4 and 5). */
import type { Dialect } from "../shared/dialect.js";
import { MUTATION_TYPES } from "./mutation-types.js";

/** The dialect of match conditions and variables: that of all admission policies, in which lists that expressions make can be told from the request's. */
export const variableDialect = (dialect: Dialect): Dialect => ({
  ...dialect,
  environment: { ...dialect.environment, marksLists: true },
});

/**
 * The dialect of mutations: that of a policy's other expressions, and what only mutations know: the types `Object…` and `JSONPatch`, and
 * `jsonpatch.escapeKey`. Variables and match conditions are compiled in the other one, mutations in a compiler of this one.
 */
export function mutationDialect(dialect: Dialect): Dialect {
  const { environment } = dialect;
  const extensions = [...(environment.extensions ?? []), "jsonpatch" as const];
  return { ...dialect, environment: { ...environment, extensions, typeProvider: MUTATION_TYPES } };
}
