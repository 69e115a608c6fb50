/** The common parts of policies of either kind, prepared for requests. */
import type { Expression } from "../shared/expressions/expression.js";
import { type PreparedMatch, prepareMatch } from "../shared/match/match-resources.js";
import type { CompiledCommon } from "./compiled-common.js";
import { type PreparedParamKind, prepareParamKind } from "./prepared-binding.js";
import type { CommonPolicySpec, Resource } from "./resource.js";

/** The part of a prepared policy that both kinds have. Immutable. */
export interface PreparedCommon {
  readonly name: string;
  /** The beginning of denials: `ValidatingAdmissionPolicy 'x'`; `""` for an inline policy, whose messages have none. */
  readonly title: string;
  readonly failurePolicy: string;
  readonly paramKind: PreparedParamKind | undefined;
  /** `undefined`: an unvalidated policy without criteria. */
  readonly match: PreparedMatch | undefined;
  readonly conditions: readonly (Expression | undefined)[];
  readonly conditionNames: readonly string[];
  readonly variables: ReadonlyMap<string, Expression>;
}

/** Prepares it. `undefined` when the paramKind cannot be read: such a policy never acts (spec validating-admission-policy.md 4.1). */
export function prepareCommon(
  { metadata, spec }: Resource<CommonPolicySpec>,
  compiled: CompiledCommon,
  title: string,
): PreparedCommon | undefined {
  const paramKind = prepareParamKind(spec.paramKind);
  if (paramKind === "unreadable") return undefined;
  const variables = new Map<string, Expression>();
  (spec.variables ?? []).forEach(({ name }, i) => {
    const expression = compiled.variables[i];
    if (name !== undefined && expression !== undefined) variables.set(name, expression);
  });
  return {
    name: metadata.name ?? "",
    title,
    failurePolicy: spec.failurePolicy ?? "Fail",
    paramKind,
    match: spec.matchConstraints && prepareMatch(spec.matchConstraints),
    conditions: compiled.matchConditions,
    conditionNames: (spec.matchConditions ?? []).map(({ name }) => name ?? ""),
    variables,
  };
}
