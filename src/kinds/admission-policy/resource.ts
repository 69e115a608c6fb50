/**
 * The common part of ValidatingAdmissionPolicy and MutatingAdmissionPolicy as they are written, with their bindings (spec
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

/** The reference of a binding to its parameters. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

/** The common part of both kinds' policy `spec`. */
export interface CommonPolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
}

/** The common part of both kinds' binding `spec`. */
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
