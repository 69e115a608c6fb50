/** The common parts of CEL policy kinds: requests, expressions, variables, budgets, schemas, coverage, explanations. */
export type { KubernetesVersion } from "../../cel/index.js";
export {
  Coverage,
  type CoverageReport,
  type CoveredExpression,
  type Gap,
  hasExpressions,
} from "./coverage/coverage.js";
export {
  type ExplainedPolicy,
  type ExplainedVariant,
  isExplainable,
  type PlacedExpression,
} from "./explain/explainable.js";
export { type Asking, type Evaluated, Explainer } from "./explain/explainer.js";
export { ExpressionCompiler } from "./expressions/expression-compiler.js";
export { bundledSchemas, type SchemaFactory } from "./type-check/bundled-schemas.js";
export { SchemaSource } from "./type-check/schema-source.js";
export type { Watcher } from "./watcher.js";
