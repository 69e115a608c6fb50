/** The exports of CertificateRequestPolicies for other rooms. */
export { decodePolicy } from "./decode-policy.js";
export { createRuleCompiler, RULE_DIALECT } from "./dialect.js";
export { compilePolicy } from "./engine/compiled-policy.js";
export type { Decision, Objection, Objections, PolicyAccount } from "./engine/decision.js";
export { Evaluation as Look } from "./engine/evaluation.js";
export { aggregated } from "./engine/objections.js";
export { Reviewer } from "./engine/review.js";
export { CertificateRequestPolicySet } from "./policy.js";
export { readCertificateRequest } from "./read-request.js";
