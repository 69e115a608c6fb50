/** The expressions of a policy, compiled. */
import type { Type } from "../../cel/index.js";
import type { Scope } from "../../cel-policy/dialect.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { ResultType } from "../../cel-policy/expressions/result-type.js";
import { trimSpace } from "../../cel-policy/expressions/trim.js";
import { variableType } from "./dialect.js";
import type { PolicySpec } from "./resource.js";

/** The expressions in the order of the policy's lists; `undefined` where there is none. */
export interface CompiledPolicy {
  readonly matchConditions: readonly (Expression | undefined)[];
  readonly variables: readonly (Expression | undefined)[];
  readonly validations: readonly (Expression | undefined)[];
  readonly messages: readonly (Expression | undefined)[];
  readonly auditAnnotations: readonly (Expression | undefined)[];
}

/**
 * `written`: as the API server does when a policy is written; match conditions see no variables, blank expressions are left out.
 * `stored`: as its evaluator does with whatever it is given (spec validating-admission-policy.md 1.5 and 5.1).
 */
export type CompileMode = "written" | "stored";

/** Compiles all of a policy's expressions. Mistakes are in the {@link Expression}s. */
export function compilePolicy(
  spec: PolicySpec,
  compiler: Pick<ExpressionCompiler, "compile">,
  mode: CompileMode,
): CompiledPolicy {
  const params = spec.paramKind !== undefined;
  const written = mode === "written";
  const types = new Map<string, Type>();
  const declaresVariables = !written || (spec.variables ?? []).length > 0;
  const scope = (authorizer: boolean): Scope => ({
    optional: [...(params ? ["params"] : []), ...(authorizer ? ["authorizer"] : [])],
    variables: declaresVariables ? types : undefined,
  });
  const compile = (
    source: string | undefined,
    wanted: ResultType,
    where: Scope,
    trimmed = false,
  ): Expression | undefined => {
    if (source === undefined || (written && trimSpace(source) === "")) return written ? undefined : missing(source);
    return compiler.compile(source, wanted, where, trimmed && written ? trimSpace(source) : source);
  };
  const missing = (source: string | undefined): Expression | undefined =>
    compiler.compile(source ?? "", "any", scope(true));

  const variables = (spec.variables ?? []).map(({ name = "", expression }) => {
    const compiled = compile(expression, "any", scope(true));
    // A blank variable is a mistake of its own, and unknown to the expressions behind it.
    if (compiled !== undefined) types.set(name, variableType(compiled.type));
    return compiled;
  });
  const conditionScope = { ...scope(true), ...(written && { variables: undefined }) };
  return {
    variables,
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) =>
      compile(expression, "bool", conditionScope, true),
    ),
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
