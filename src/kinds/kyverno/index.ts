/** What others use of Kyverno's policies. */
export type { CompiledPolicy, CompiledVariant, VariantName } from "./compiled-policy.js";
export { type EngineContext, KyvernoEngine } from "./engine/engine.js";
export type { AdmissionInput, EngineInput, Flavour, PayloadInput } from "./engine/engine-request.js";
export type { PolicyResponse, RuleResult } from "./engine/response.js";
export { type CompileFailure, compileErrorTexts, preparePolicies } from "./prepare-policies.js";
export type { ContextEntryResource, ExceptionResource, PolicyResource } from "./resource.js";
