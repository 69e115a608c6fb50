/** Warnings about policies and bindings that a cluster accepts, but that apply to nothing. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { neverMet } from "../shared/expressions/constant-doubts.js";
import { matchDoubts } from "../shared/match/match-doubts.js";
import type { CompiledCommon } from "./compiled-common.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** Warnings about a policy, below its spec. */
export const policyDoubts = (spec: CommonPolicySpec, compiled: CompiledCommon): readonly FieldError[] => [
  ...(spec.matchConstraints === undefined ? [] : matchDoubts(spec.matchConstraints, ["matchConstraints"])),
  ...neverMet(compiled.matchConditions, ["matchConditions"]),
];

/** Warnings about a binding, below its spec. */
export const bindingDoubts = ({ matchResources }: CommonBindingSpec): readonly FieldError[] =>
  matchResources === undefined ? [] : matchDoubts(matchResources, ["matchResources"]);

/** The same as problems of the document with that spec. */
export const doubtsIn = (
  document: Pick<SourceDocument, "value" | "problem">,
  doubts: readonly FieldError[],
): readonly Problem[] =>
  doubts.map((doubt) => fieldProblem(document, "warning", { ...doubt, path: ["spec", ...doubt.path] }));
