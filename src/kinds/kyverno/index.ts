/** The exports of Kyverno's policies for other rooms. */
export type { CompiledPolicy } from "./compiled-policy.js";
export { type BoundUser, bindingsOf, isOldException, isOldPolicy, type KnownPolicy } from "./convert/index.js";
export {
  type ApplyOptions,
  type EngineAnswer,
  type EngineContext,
  KyvernoEngine,
  mutatingEngine,
} from "./engine/engine.js";
export type { AdmissionInput, EngineInput } from "./engine/engine-request.js";
export type { PolicyResponse, RuleResult } from "./engine/response.js";
export { expiredText } from "./expiry.js";
export { originOf } from "./old-rule-origin.js";
export { resultOfOldRule } from "./old-rule-result.js";
export { type CompileFailure, preparePolicies } from "./prepare-policies.js";
export { readOldExceptions, readOldPolicy } from "./read-old-policy.js";
export { type ExceptionResource, isMutating, type PolicyResource } from "./resource.js";
