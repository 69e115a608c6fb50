/**
 * The library's public face: the CEL engine, policies loaded from a configuration, and the server over them.
 *
 * ```ts
 * const source = createPolicySource({ policies: "policies.yaml" }, process.env);
 * const { policies } = await source.load();
 * const evaluator = createEvaluator(policies, { policyTimeout: 2000 });
 * ```
 */
export type {
  Bindings,
  Compiled,
  CompileFailure,
  Environment,
  EnvironmentOptions,
  Evaluation as CelEvaluation,
  Issue,
  Program,
} from "./cel/index.js";
export { createEnvironment, Lazy } from "./cel/index.js";
export { createPolicySource } from "./commands/load.js";
export type { LoadResult, PolicySource } from "./commands/policy-source.js";
export {
  type Config,
  type ConfigResult,
  formatProblem,
  loadConfig,
  type Problem,
  parseConfig,
} from "./config/index.js";
export { parseJson, readJson, stringifyJson } from "./data/json.js";
export { createEvaluator, type Evaluator, type EvaluatorOptions } from "./evaluation/evaluator.js";
export { createPolicySet, type PolicySet, type ServedPolicy } from "./evaluation/policy-set.js";
export type * from "./policy/index.js";
