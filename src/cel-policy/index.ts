/** What CEL policy kinds share: which requests, expressions, variables, budgets, schemas, coverage. */
export { Coverage, type CoverageReport, hasExpressions } from "./coverage/coverage.js";
export { ExpressionCompiler } from "./expressions/expression-compiler.js";
export { bundledSchemas, type SchemaFactory } from "./type-check/bundled-schemas.js";
export { SchemaSource } from "./type-check/schema-source.js";
