/** What a cluster takes without a word, and what yet cannot be meant: policies and bindings that apply to nothing. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { neverMet } from "../shared/expressions/constant-doubts.js";
import { matchDoubts } from "../shared/match/match-doubts.js";
import type { CompiledCommon } from "./compiled-common.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** Doubts about a policy, below its spec. */
export const policyDoubts = (spec: CommonPolicySpec, compiled: CompiledCommon): readonly FieldError[] => [
  ...(spec.matchConstraints === undefined ? [] : matchDoubts(spec.matchConstraints, ["matchConstraints"])),
  ...neverMet(compiled.matchConditions, ["matchConditions"]),
];

/** Doubts about a binding, below its spec. */
export const bindingDoubts = ({ matchResources }: CommonBindingSpec): readonly FieldError[] =>
  matchResources === undefined ? [] : matchDoubts(matchResources, ["matchResources"]);

/** As warnings in the document whose spec they are about. */
export const doubtsIn = (
  document: Pick<SourceDocument, "value" | "problem">,
  doubts: readonly FieldError[],
): readonly Problem[] =>
  doubts.map((doubt) => fieldProblem(document, "warning", { ...doubt, path: ["spec", ...doubt.path] }));
