import type { Behaviour } from "../../../cel/index.js";
import type { Scope } from "../dialect.js";
import type { Expression } from "../expressions/expression.js";
import type { ExpressionCompiler } from "../expressions/expression-compiler.js";
import type { ResultType } from "../expressions/result-type.js";

/** The notation of a mutation's changes. */
export type PatchType = "JSONPatch" | "ApplyConfiguration";

/** The members of a mutation in a policy (spec mutating-admission-policy.md 1). */
export interface MutationSpec {
  readonly patchType?: string | undefined;
  readonly jsonPatch?: { readonly expression?: string | undefined } | undefined;
  readonly applyConfiguration?: { readonly expression?: string | undefined } | undefined;
}

/** A mutation, compiled (prepared). A mistake is in its {@link Expression}. */
export interface CompiledMutation {
  readonly patchType: PatchType;
  /** How the server behaves that evaluates it. */
  readonly behaviour?: Behaviour | undefined;
  /** A list of the one expression: identifies an evaluation of the mutation in repeated attempts. */
  readonly expressions: readonly [Expression];
}

const RESULTS: Readonly<Record<PatchType, ResultType>> = { JSONPatch: "list(JSONPatch)", ApplyConfiguration: "Object" };

/**
 * Compiles a mutation; `undefined` for one without the member of its type, or with an unknown type: the server then answers 500 for
 * every request that gets there.
 * @param compiler one of the mutations' dialect (`mutationDialect`)
 * @param scope the variables are those of the policy, compiled in the policy's own dialect
 */
export function compileMutation(
  { patchType, jsonPatch, applyConfiguration }: MutationSpec,
  compiler: Pick<ExpressionCompiler, "compile" | "dialect">,
  scope: Scope,
): CompiledMutation | undefined {
  if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") return undefined;
  const chosen = patchType === "JSONPatch" ? jsonPatch : applyConfiguration;
  if (chosen === undefined) return undefined;
  const { behaviour } = compiler.dialect.environment;
  return { patchType, behaviour, expressions: [compiler.compile(chosen.expression ?? "", RESULTS[patchType], scope)] };
}
