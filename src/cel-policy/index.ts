/**
 * The public face of the CEL policy kinds. Each kind has a folder of its own over the shared `match` (which requests) and `validate`
 * (expressions, variables, budgets).
 */

import { createEnvironment, type KubernetesVersion } from "../cel/index.js";
import type { Coverage } from "./coverage/coverage.js";
import { ExpressionCompiler } from "./expressions/expression-compiler.js";

export type { DocumentProblem, Place, SourceDocument } from "../documents/document-problem.js";
export { type CelModuleOptions, compileCelModule } from "../kinds/cel-module/policy.js";
export { compileInline, type InlineOptions } from "../kinds/validating-admission-policy/inline.js";
export { type Loaded, type LoadOptions, loadPolicies } from "../kinds/validating-admission-policy/load.js";
export { ValidatingPolicySet, type World } from "../kinds/validating-admission-policy/policy.js";
export { Coverage, type CoverageReport, type Gap } from "./coverage/coverage.js";
export { ExpressionCompiler } from "./expressions/expression-compiler.js";
export { bundledSchemas, type SchemaFactory } from "./type-check/bundled-schemas.js";
export { SchemaSource } from "./type-check/schema-source.js";

/** The newest version whose expressions are understood, as a cluster of that version evaluates stored policies. */
export const STORED_VERSION: KubernetesVersion = "1.37";
/** The version that new policies must keep to on a server of {@link STORED_VERSION}, which must be able to go back one. */
export const WRITTEN_VERSION: KubernetesVersion = "1.36";

/**
 * A compiler of policies' expressions; keep one for everything that is loaded together, so that they share what they have in common.
 * With a {@link Coverage} it is told what is reached.
 */
export const createExpressionCompiler = (
  version: KubernetesVersion = STORED_VERSION,
  coverage?: Coverage,
): ExpressionCompiler =>
  new ExpressionCompiler(createEnvironment, version, coverage && ((program) => coverage.watch(program)));
