/**
 * ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding as they are written (spec validating-admission-policy.md 1), after strict
 * decoding: members are absent, never null, and of the right JSON type.
 */
import type { Metadata } from "../../cel-policy/decode/validate-metadata.js";
import type { LabelSelector } from "../../cel-policy/match/label-selector.js";
import type { MatchResources } from "../../cel-policy/match/match-resources.js";

export const GROUP = "admissionregistration.k8s.io";
export const POLICY_KIND = "ValidatingAdmissionPolicy";
export const BINDING_KIND = "ValidatingAdmissionPolicyBinding";

/** A named expression: a match condition or a variable. */
export interface NamedExpression {
  readonly name?: string;
  readonly expression?: string;
}

/** One rule that must hold. */
export interface Validation {
  readonly expression?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

/** One annotation of the audit event. */
export interface AuditAnnotation {
  readonly key?: string;
  readonly valueExpression?: string;
}

/** The kind that parameters have. */
export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** `spec` of a policy. */
export interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** Which object a binding takes as parameter. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

/** `spec` of a binding. */
export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

/** A policy. */
export interface PolicyResource {
  readonly apiVersion: string;
  readonly kind: typeof POLICY_KIND;
  readonly metadata: Metadata;
  readonly spec: PolicySpec;
}

/** A binding. */
export interface BindingResource {
  readonly apiVersion: string;
  readonly kind: typeof BINDING_KIND;
  readonly metadata: Metadata;
  readonly spec: BindingSpec;
}
