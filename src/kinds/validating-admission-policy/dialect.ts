import type { KubernetesVersion } from "../../cel/index.js";
import { admissionDialect, STORED_VERSION } from "../admission-policy/dialect.js";
import { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { Watcher } from "../shared/watcher.js";

/**
 * A compiler of policies' expressions; keep one for everything that is loaded together. With a {@link Watcher} its programs are watched.
 * @param release the server that evaluates
 */
export const createExpressionCompiler = (
  version: KubernetesVersion = STORED_VERSION,
  release: KubernetesVersion = version,
  watcher?: Watcher,
): ExpressionCompiler => new ExpressionCompiler(admissionDialect(version, release), watcher);
