/** ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding as they are written (spec validating-admission-policy.md 1), after strict decoding. */
import { type CommonBindingSpec, type CommonPolicySpec, GROUP, type Resource } from "../admission-policy/resource.js";
import type { KindDocuments } from "../kind.js";

export const POLICY_KIND = "ValidatingAdmissionPolicy";
export const BINDING_KIND = "ValidatingAdmissionPolicyBinding";

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

/** `spec` of a policy. */
export interface PolicySpec extends CommonPolicySpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** `spec` of a binding. */
export interface BindingSpec extends CommonBindingSpec {
  readonly validationActions?: readonly string[];
}

/** A policy. */
export type PolicyResource = Resource<PolicySpec, typeof POLICY_KIND>;

/** A binding. */
export type BindingResource = Resource<BindingSpec, typeof BINDING_KIND>;

/** The documents of the kind. */
export const VALIDATING_DOCUMENTS: KindDocuments = {
  policies: [{ group: GROUP, kind: POLICY_KIND }],
  companions: [{ group: GROUP, kind: BINDING_KIND }],
};
