import { admissionDialect, STORED_VERSION } from "../../admission-policy/dialect.js";
import type { KubernetesVersion } from "../../cel/index.js";
import { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { Watcher } from "../../cel-policy/watcher.js";

/**
 * A compiler of policies' expressions; keep one for everything that is loaded together. With a {@link Watcher} its programs are watched.
 */
export const createExpressionCompiler = (
  version: KubernetesVersion = STORED_VERSION,
  watcher?: Watcher,
): ExpressionCompiler => new ExpressionCompiler(admissionDialect(version), watcher);
