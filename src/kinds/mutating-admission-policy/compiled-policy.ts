/** The expressions of a policy, compiled. */
import { type CompiledCommon, type CompileMode, compileCommon } from "../admission-policy/compiled-common.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import { trimSpace } from "../shared/expressions/trim.js";
import { type CompiledMutation, compileMutation } from "../shared/mutation/compile-mutation.js";
import type { MutationCompilers } from "./compilers.js";
import type { PolicySpec } from "./resource.js";

/** The expressions in the order of the policy's lists; `undefined` where there is none. */
export interface CompiledPolicy extends CompiledCommon {
  readonly mutations: readonly (CompiledMutation | undefined)[];
}

/** Compiles all of a policy's expressions. Mistakes are in the {@link Expression}s. */
export function compilePolicy(spec: PolicySpec, compilers: MutationCompilers, mode: CompileMode): CompiledPolicy {
  const { scope, variables, matchConditions } = compileCommon(spec, compilers.common, mode, "always");
  const compiler = mode === "written" ? trimming(compilers.mutations) : compilers.mutations;
  return {
    variables,
    matchConditions,
    mutations: (spec.mutations ?? []).map((mutation) => compileMutation(mutation, compiler, scope(true))),
  };
}

/** A compiler of trimmed text: the API server trims expressions when a policy is written, and counts columns in that. */
const trimming = (compiler: ExpressionCompiler): Pick<ExpressionCompiler, "compile" | "dialect"> => ({
  dialect: compiler.dialect,
  compile: (source, wanted, scope) => compiler.compile(source, wanted, scope, trimSpace(source)),
});

/** All the expressions of a compiled policy. */
export const expressionsIn = ({ variables, matchConditions, mutations }: CompiledPolicy) => [
  ...variables,
  ...matchConditions,
  ...mutations.map((mutation) => mutation?.expressions[0]),
];
