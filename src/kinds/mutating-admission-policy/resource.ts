/** MutatingAdmissionPolicy and MutatingAdmissionPolicyBinding as they are written (spec mutating-admission-policy.md 1), after strict decoding. */
import { type CommonBindingSpec, type CommonPolicySpec, GROUP, type Resource } from "../admission-policy/resource.js";
import type { KindDocuments } from "../kind.js";

export const POLICY_KIND = "MutatingAdmissionPolicy";
export const BINDING_KIND = "MutatingAdmissionPolicyBinding";

/** One step of a policy: exactly one of the two members belongs to its type, the other is ignored where it is not refused. */
export interface Mutation {
  readonly patchType?: string;
  readonly jsonPatch?: { readonly expression?: string };
  readonly applyConfiguration?: { readonly expression?: string };
}

/** `spec` of a policy. */
export interface PolicySpec extends CommonPolicySpec {
  readonly mutations?: readonly Mutation[];
  /** `Never` or `IfNeeded`. */
  readonly reinvocationPolicy?: string;
}

/** `spec` of a binding. */
export type BindingSpec = CommonBindingSpec;

/** A policy. */
export type PolicyResource = Resource<PolicySpec, typeof POLICY_KIND>;

/** A binding. */
export type BindingResource = Resource<BindingSpec, typeof BINDING_KIND>;

/** The members of a mutation that hold expressions. */
export type MutationMember = "jsonPatch" | "applyConfiguration";

/** The documents of the kind. */
export const MUTATING_DOCUMENTS: KindDocuments = {
  policies: [{ group: GROUP, kind: POLICY_KIND }],
  companions: [{ group: GROUP, kind: BINDING_KIND }],
};
