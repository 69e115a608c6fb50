/** Policies and bindings made ready for requests. */

import type { Expression } from "../../cel-policy/expressions/expression.js";
import { trimSpace } from "../../cel-policy/expressions/trim.js";
import { type PreparedSelector, prepareSelector } from "../../cel-policy/match/label-selector.js";
import { type PreparedMatch, prepareMatch } from "../../cel-policy/match/match-resources.js";
import { compareNames, type GroupVersionKind, parseApiVersion } from "../../kubernetes/names.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { BindingResource, PolicyResource } from "./resource.js";

/** What a violated validation leads to. */
export interface PreparedValidation {
  readonly source: string;
  /** Trimmed; `""` for none. */
  readonly message: string;
  /** `undefined`: none given. */
  readonly reason: string | undefined;
}

/** Which parameters a binding brings. */
export interface PreparedParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: PreparedSelector | undefined;
  /** A missing parameter is an error. */
  readonly denyIfMissing: boolean;
}

/** A binding made ready. */
export interface PreparedBinding {
  /** `undefined` for a policy that acts without one. */
  readonly name: string | undefined;
  /** `undefined`: everything that the policy matches. */
  readonly match: PreparedMatch | undefined;
  readonly paramRef: PreparedParamRef | undefined;
  readonly actions: readonly string[];
}

/** A policy made ready, with its bindings in order. Immutable. */
export interface PreparedPolicy {
  readonly name: string;
  /** How denials begin: `ValidatingAdmissionPolicy 'x'`; `""` for an inline policy, whose messages stand alone. */
  readonly title: string;
  readonly failurePolicy: string;
  readonly paramKind: PreparedParamKind | undefined;
  /** `undefined`: an unvalidated policy without criteria. */
  readonly match: PreparedMatch | undefined;
  readonly conditions: readonly (Expression | undefined)[];
  readonly conditionNames: readonly string[];
  readonly variables: ReadonlyMap<string, Expression>;
  readonly validations: readonly PreparedValidation[];
  readonly expressions: readonly (Expression | undefined)[];
  readonly messages: readonly (Expression | undefined)[];
  readonly hasMessages: boolean;
  readonly annotationKeys: readonly string[];
  readonly annotations: readonly (Expression | undefined)[];
  readonly bindings: readonly PreparedBinding[];
}

/** The kind of a policy's parameters, parsed and as written. */
export interface PreparedParamKind {
  readonly kind: GroupVersionKind;
  readonly apiVersion: string;
}

/** Prepares a policy. `undefined` when its paramKind cannot be read: such a policy never acts (spec validating-admission-policy.md 4.1). */
export function preparePolicy(
  policy: PolicyResource,
  compiled: CompiledPolicy,
  bindings: readonly PreparedBinding[],
  title: string,
): PreparedPolicy | undefined {
  const { spec } = policy;
  const paramKind = prepareParamKind(spec.paramKind);
  if (paramKind === "unreadable") return undefined;
  const variables = new Map<string, Expression>();
  (spec.variables ?? []).forEach(({ name }, i) => {
    const expression = compiled.variables[i];
    if (name !== undefined && expression !== undefined) variables.set(name, expression);
  });
  return {
    name: policy.metadata.name ?? "",
    title,
    failurePolicy: spec.failurePolicy ?? "Fail",
    paramKind,
    match: spec.matchConstraints && prepareMatch(spec.matchConstraints),
    conditions: compiled.matchConditions,
    conditionNames: (spec.matchConditions ?? []).map(({ name }) => name ?? ""),
    variables,
    validations: (spec.validations ?? []).map(({ expression, message, reason }) => ({
      source: expression ?? "",
      message: trimSpace(message ?? ""),
      reason,
    })),
    expressions: compiled.validations,
    messages: compiled.messages,
    hasMessages: compiled.messages.some((message) => message !== undefined),
    annotationKeys: (spec.auditAnnotations ?? []).map(({ key }) => key ?? ""),
    annotations: compiled.auditAnnotations,
    bindings: [...bindings].sort((a, b) => compareNames(a.name ?? "", b.name ?? "")),
  };
}

/** Parses the kind of parameters. */
export function prepareParamKind(
  written: PolicyResource["spec"]["paramKind"],
): PreparedParamKind | undefined | "unreadable" {
  if (written === undefined) return undefined;
  const version = parseApiVersion(written.apiVersion ?? "");
  if (version === undefined) return "unreadable";
  return { kind: { ...version, kind: written.kind ?? "" }, apiVersion: written.apiVersion ?? "" };
}

/** Prepares a binding. */
export function prepareBinding({ metadata, spec }: BindingResource): PreparedBinding {
  const { paramRef } = spec;
  return {
    name: metadata.name ?? "",
    match: spec.matchResources && prepareMatch(spec.matchResources),
    paramRef: paramRef && {
      name: paramRef.name ?? "",
      namespace: paramRef.namespace ?? "",
      selector: paramRef.selector && prepareSelector(paramRef.selector),
      denyIfMissing: paramRef.parameterNotFoundAction === "Deny",
    },
    actions: spec.validationActions ?? [],
  };
}

/** The binding of a policy that acts alone: everything it matches, without parameters. */
export const standalone = (actions: readonly string[]): PreparedBinding => ({
  name: undefined,
  match: undefined,
  paramRef: undefined,
  actions,
});
