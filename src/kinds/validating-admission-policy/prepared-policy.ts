/** Policies and bindings prepared for requests. */

import { namesVariable } from "../../cel/index.js";
import { compareNames } from "../../kubernetes/names.js";
import { EVERYTHING_MATCHED, type PreparedTarget, prepareTarget } from "../admission-policy/prepared-binding.js";
import { type PreparedCommon, prepareCommon } from "../admission-policy/prepared-common.js";
import type { Expression } from "../shared/expressions/expression.js";
import { trimSpace } from "../shared/expressions/trim.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { BindingResource, PolicyResource } from "./resource.js";

/** The texts of a violated validation. */
export interface PreparedValidation {
  readonly source: string;
  /** Trimmed; `""` for none. */
  readonly message: string;
  /** `undefined`: none given. */
  readonly reason: string | undefined;
}

/** A prepared binding. */
export interface PreparedBinding extends PreparedTarget {
  readonly actions: readonly string[];
  /** The actions as they are written, whatever others are taken in their place. */
  readonly written: readonly string[];
}

/** The inputs that are made only for policies that name them. */
export interface NamedInputs {
  readonly request: boolean;
  readonly namespaceObject: boolean;
  readonly authorizer: boolean;
}

/** A prepared policy with its bindings in order. Immutable. */
export interface PreparedPolicy extends PreparedCommon {
  readonly validations: readonly PreparedValidation[];
  readonly expressions: readonly (Expression | undefined)[];
  readonly messages: readonly (Expression | undefined)[];
  /** The inputs that validations and variables name. */
  readonly named: NamedInputs;
  readonly hasMessages: boolean;
  readonly annotationKeys: readonly string[];
  readonly annotations: readonly (Expression | undefined)[];
  readonly bindings: readonly PreparedBinding[];
}

/** Prepares a policy. `undefined` when its paramKind cannot be read: such a policy never acts (spec validating-admission-policy.md 4.1). */
export function preparePolicy(
  policy: PolicyResource,
  compiled: CompiledPolicy,
  bindings: readonly PreparedBinding[],
  title: string,
): PreparedPolicy | undefined {
  const { spec } = policy;
  const common = prepareCommon(policy, compiled, title);
  if (common === undefined) return undefined;
  return {
    ...common,
    validations: (spec.validations ?? []).map(({ expression, message, reason }) => ({
      source: expression ?? "",
      message: trimSpace(message ?? ""),
      reason,
    })),
    expressions: compiled.validations,
    messages: compiled.messages,
    named: namedBy([...compiled.validations, ...common.variables.values()]),
    hasMessages: compiled.messages.some((message) => message !== undefined),
    annotationKeys: (spec.auditAnnotations ?? []).map(({ key }) => key ?? ""),
    annotations: compiled.auditAnnotations,
    bindings: [...bindings].sort((a, b) => compareNames(a.name ?? "", b.name ?? "")),
  };
}

function namedBy(expressions: readonly (Expression | undefined)[]): NamedInputs {
  const isNamed = (name: string): boolean =>
    expressions.some((expression) => expression?.program && namesVariable(expression.program.references, name));
  return {
    request: isNamed("request"),
    namespaceObject: isNamed("namespaceObject"),
    authorizer: isNamed("authorizer"),
  };
}

/** Prepares a binding. */
export function prepareBinding(binding: BindingResource): PreparedBinding {
  const { validationActions: actions = [] } = binding.spec;
  return { ...prepareTarget(binding), actions, written: actions };
}

/** The binding of a policy that acts alone. */
export const standalone = (actions: readonly string[]): PreparedBinding => ({
  ...EVERYTHING_MATCHED,
  actions,
  written: actions,
});
