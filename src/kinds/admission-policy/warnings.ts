/** Warnings about policies and bindings that a cluster accepts, but that apply to nothing. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
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

/** The same as problems of the document with that spec. */
export const warningsIn = (
  document: Pick<SourceDocument, "value" | "problem">,
  warnings: readonly FieldError[],
): readonly Problem[] =>
  warnings.map((warning) => fieldProblem(document, "warning", { ...warning, path: ["spec", ...warning.path] }));
