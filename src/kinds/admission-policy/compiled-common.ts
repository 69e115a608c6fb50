/** The expressions common to policies of either kind, compiled. */
import type { Type } from "../../cel/index.js";
import type { Scope } from "../shared/dialect.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { ResultType } from "../shared/expressions/result-type.js";
import { trimSpace } from "../shared/expressions/trim.js";
import { variableType } from "./dialect.js";
import type { CommonPolicySpec } from "./resource.js";

/** The expressions in the order of the policy's lists; `undefined` where there is none. */
export interface CompiledCommon {
  readonly matchConditions: readonly (Expression | undefined)[];
  readonly variables: readonly (Expression | undefined)[];
}

/**
 * `written`: as the API server does when a policy is written; match conditions see no variables, blank expressions are left out.
 * `stored`: as its evaluator does with any stored policy (spec validating-admission-policy.md 1.5 and 5.1).
 */
export type CompileMode = "written" | "stored";

/** Compiles one expression of a policy; `trimmed` where the API server trims it before it compiles it. `undefined`: there is none. */
export type CompilePart = (
  source: string | undefined,
  wanted: ResultType,
  where: Scope,
  trimmed?: boolean,
) => Expression | undefined;

/** The compiler and the scope of a kind's own expressions. */
export interface PolicyScope {
  readonly compile: CompilePart;
  /** The names that expressions can use, with the variables that are compiled by now. */
  readonly scope: (authorizer: boolean) => Scope;
}

/**
 * Compiles conditions and variables. Mistakes are in the {@link Expression}s.
 * @param declares whether expressions of a policy that is written can name `variables` even where it has none: with `where-used` they cannot
 */
export function compileCommon(
  spec: CommonPolicySpec,
  compiler: Pick<ExpressionCompiler, "compile">,
  mode: CompileMode,
  declares: "always" | "where-used" = "where-used",
): CompiledCommon & PolicyScope {
  const params = spec.paramKind !== undefined;
  const written = mode === "written";
  const types = new Map<string, Type>();
  const declaresVariables = !written || declares === "always" || (spec.variables ?? []).length > 0;
  const scope = (authorizer: boolean): Scope => ({
    optional: [...(params ? ["params"] : []), ...(authorizer ? ["authorizer"] : [])],
    variables: declaresVariables ? types : undefined,
  });
  const compile: CompilePart = (source, wanted, where, trimmed = false) => {
    if (source === undefined || (written && trimSpace(source) === ""))
      return written ? undefined : compiler.compile(source ?? "", "any", scope(true));
    return compiler.compile(source, wanted, where, trimmed && written ? trimSpace(source) : source);
  };
  const variables = (spec.variables ?? []).map(({ name = "", expression }) => {
    const compiled = compile(expression, "any", scope(true));
    // A blank variable is an error of its own, and unknown to later expressions.
    if (compiled !== undefined) types.set(name, variableType(compiled.type));
    return compiled;
  });
  const conditionScope = { ...scope(true), ...(written && { variables: undefined }) };
  return {
    compile,
    scope,
    variables,
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) =>
      compile(expression, "bool", conditionScope, true),
    ),
  };
}
