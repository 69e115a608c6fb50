/** The expressions of a policy, compiled. */
import { type CompiledCommon, type CompileMode, compileCommon } from "../admission-policy/compiled-common.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { PolicySpec } from "./resource.js";

/** The expressions in the order of the policy's lists; `undefined` where there is none. */
export interface CompiledPolicy extends CompiledCommon {
  readonly validations: readonly (Expression | undefined)[];
  readonly messages: readonly (Expression | undefined)[];
  readonly auditAnnotations: readonly (Expression | undefined)[];
}

/** Compiles all of a policy's expressions. Mistakes are in the {@link Expression}s. */
export function compilePolicy(
  spec: PolicySpec,
  compiler: Pick<ExpressionCompiler, "compile">,
  mode: CompileMode,
): CompiledPolicy {
  const { compile, scope, variables, matchConditions } = compileCommon(spec, compiler, mode);
  return {
    variables,
    matchConditions,
    validations: (spec.validations ?? []).map(({ expression }) => compile(expression, "bool", scope(true))),
    messages: (spec.validations ?? []).map(({ messageExpression }) =>
      messageExpression === undefined || messageExpression === ""
        ? undefined
        : compile(messageExpression, "string", scope(false)),
    ),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ valueExpression }) =>
      compile(valueExpression, "string-or-null", scope(true), true),
    ),
  };
}
