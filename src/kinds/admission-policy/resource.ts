/**
 * What ValidatingAdmissionPolicy and MutatingAdmissionPolicy have in common as they are written, with their bindings (spec
 * validating-admission-policy.md 1, mutating-admission-policy.md 1), after strict decoding: members are absent, never null, and of the right JSON type.
 */
import type { Metadata } from "../shared/decode/validate-metadata.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import type { MatchResources } from "../shared/match/match-resources.js";

/** The API group of policies and bindings. */
export const GROUP = "admissionregistration.k8s.io";

/** A named expression: a match condition or a variable. */
export interface NamedExpression {
  readonly name?: string;
  readonly expression?: string;
}

/** The kind that parameters have. */
export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Which object a binding takes as parameter. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

/** What `spec` of a policy of either kind has. */
export interface CommonPolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
}

/** What `spec` of a binding of either kind has. */
export interface CommonBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

/** A policy or a binding. */
export interface Resource<Spec, Kind extends string = string> {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: Metadata;
  readonly spec: Spec;
}
