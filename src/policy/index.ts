/** Terms of the domain: policies, reviews, outcomes. */
export type { AdmissionRequest } from "../admission/admission-request.js";
export type { Allow, Cause, Deny, Failure, FailureCause, Findings, Found, Mutation, Outcome, Skip } from "./outcome.js";
export type {
  Composition,
  EvaluationContext,
  NeverDenying,
  Observation,
  Policy,
  PolicyKind,
  PolicyMode,
  PolicyRule,
} from "./policy.js";
export type { AdmissionQuestion, RawQuestion, Review } from "./review.js";
