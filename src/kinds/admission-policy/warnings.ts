/** Warnings about policies and bindings that a cluster accepts, but that apply to nothing. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import type { ExpressionDoubts } from "../shared/doubts/expression-doubts.js";
import { neverMet } from "../shared/expressions/constant-warnings.js";
import { matchWarnings } from "../shared/match/match-warnings.js";
import type { CompiledCommon } from "./compiled-common.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** Warnings about a policy, below its spec. */
export const policyWarnings = (spec: CommonPolicySpec, compiled: CompiledCommon): readonly FieldError[] => [
  ...(spec.matchConstraints === undefined ? [] : matchWarnings(spec.matchConstraints, ["matchConstraints"])),
  ...neverMet(compiled.matchConditions, ["matchConditions"]),
];

/** Warnings about a binding, below its spec. */
export const bindingWarnings = ({ matchResources }: CommonBindingSpec): readonly FieldError[] =>
  matchResources === undefined ? [] : matchWarnings(matchResources, ["matchResources"]);

/** The expressions that both kinds have, to be examined. */
export const commonExamined = (spec: CommonPolicySpec, { matchConditions, variables }: CompiledCommon) => ({
  match: spec.matchConstraints,
  conditions: matchConditions.map((expression, i) => ({ path: ["matchConditions", i, "expression"], expression })),
  variables: variables.map((expression, i) => {
    return { path: ["variables", i, "expression"], expression, name: spec.variables?.[i]?.name ?? "" };
  }),
});

/** The same as problems of the document with that spec. */
export const warningsIn = (
  document: Pick<SourceDocument, "value" | "problem">,
  warnings: readonly FieldError[],
  severity: Problem["severity"] = "warning",
): readonly Problem[] =>
  warnings.map((warning) => fieldProblem(document, severity, { ...warning, path: ["spec", ...warning.path] }));

/** Doubts about expressions: what may be absent is a note, since documents may be of others, who mean the failure. */
export const doubtsIn = (
  document: Pick<SourceDocument, "value" | "problem">,
  { nulls, absent }: ExpressionDoubts,
): readonly Problem[] => [...warningsIn(document, nulls), ...warningsIn(document, absent, "note")];
