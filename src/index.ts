/**
 * The library's public face: policies loaded from a configuration, asked in process or served, and the CEL engine (docs/library.md).
 *
 * ```ts
 * const loaded = await loadPolicies({ file: "policies.yaml" });
 * const evaluator = createEvaluator(loaded);
 * const { allowed, response } = await evaluator.evaluate("workloads", createReview({ object: pod }));
 * ```
 */
export type { AdmissionResponse, ResponseStatus, StatusCause, StatusDetails } from "./admission/admission-response.js";
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
export {
  type Config,
  type ConfigResult,
  formatProblem,
  loadConfig,
  type Problem,
  parseConfig,
} from "./config/index.js";
export { parseJson, readJson, stringifyJson } from "./data/json.js";
export {
  type AskOptions,
  createEvaluator,
  type EvaluatorOptions,
  type MemberEvaluation,
  type PolicyEvaluation,
  type PolicyEvaluator,
} from "./library/create-evaluator.js";
export { createReview, type ObjectReview, type RawReview, type RequestReview } from "./library/create-review.js";
export { createServer, type PolicyServer, type ServerOptions } from "./library/create-server.js";
export { type LoadedPolicies, type LoadOptions, loadPolicies, PoliciesFileError } from "./library/load-policies.js";
export type { Log } from "./library/log.js";
export { OptionError } from "./library/options.js";
export type * from "./policy/index.js";
export type { PolicySet, ServedPolicy } from "./policy/served/policy-set.js";
export type { Decision, MemberDecision } from "./telemetry/decision.js";
export type { LogFields, LogLevel, LogRecord } from "./telemetry/logger.js";
