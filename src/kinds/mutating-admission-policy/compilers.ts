import type { KubernetesVersion } from "../../cel/index.js";
import { admissionDialect, STORED_VERSION } from "../admission-policy/dialect.js";
import type { Dialect } from "../shared/dialect.js";
import { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import { MUTATION_TYPES } from "../shared/mutation/mutation-types.js";
import type { Watcher } from "../shared/watcher.js";

// The expressions of mutating policies (spec mutating-admission-policy.md 4 and 5).

/** The dialect of match conditions and variables: that of all admission policies, with lists that expressions make marked as such. */
const variableDialect = (dialect: Dialect): Dialect => ({
  ...dialect,
  environment: { ...dialect.environment, marksLists: true },
});

/**
 * The dialect of mutations: that of a policy's other expressions, and the additions of mutations: the types `Object…` and `JSONPatch`, and
 * `jsonpatch.escapeKey`. Variables and match conditions are compiled in the other one, mutations in a compiler of this one.
 */
function mutationDialect(dialect: Dialect): Dialect {
  const { environment } = dialect;
  const extensions = [...(environment.extensions ?? []), "jsonpatch" as const];
  return { ...dialect, environment: { ...environment, extensions, typeProvider: MUTATION_TYPES } };
}

/** The compilers of policies' expressions; keep them for everything that is loaded together. */
export interface MutationCompilers {
  /** The compiler of match conditions and variables. */
  readonly common: ExpressionCompiler;
  /** The compiler of mutations, which have more types. */
  readonly mutations: ExpressionCompiler;
}

/**
 * Makes compilers for a version of Kubernetes. With a {@link Watcher} their programs are watched.
 * @param release the server that evaluates
 */
export function createMutationCompilers(
  version: KubernetesVersion = STORED_VERSION,
  release: KubernetesVersion = version,
  watcher?: Watcher,
): MutationCompilers {
  const dialect = variableDialect(admissionDialect(version, release));
  return {
    common: new ExpressionCompiler(dialect, watcher),
    mutations: new ExpressionCompiler(mutationDialect(dialect), watcher),
  };
}
