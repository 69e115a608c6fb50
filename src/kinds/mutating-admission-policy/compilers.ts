import type { KubernetesVersion } from "../../cel/index.js";
import { admissionDialect, STORED_VERSION } from "../admission-policy/dialect.js";
import { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { Watcher } from "../shared/watcher.js";
import { mutationDialect, variableDialect } from "./dialect.js";

/** The compilers of policies' expressions; keep them for everything that is loaded together. */
export interface MutationCompilers {
  /** Of match conditions and variables. */
  readonly common: ExpressionCompiler;
  /** Of mutations, which know more types. */
  readonly mutations: ExpressionCompiler;
}

/** Makes compilers for a version of Kubernetes. With a {@link Watcher} their programs are watched. */
export function createMutationCompilers(
  version: KubernetesVersion = STORED_VERSION,
  watcher?: Watcher,
): MutationCompilers {
  const dialect = variableDialect(admissionDialect(version));
  return {
    common: new ExpressionCompiler(dialect, watcher),
    mutations: new ExpressionCompiler(mutationDialect(dialect), watcher),
  };
}
