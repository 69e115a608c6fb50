/** Expressions of policies, compiled. */
import { type CompileFailure, DYN, type Environment, namesVariable, type Program, type Type } from "../../cel/index.js";
import { type ResultType, typeError } from "./result-type.js";

/** A compiled expression, or what keeps it from being one: an evaluator meets that at run time. */
export interface Expression {
  /** As written, which is how errors of evaluation quote it. */
  readonly source: string;
  /** As compiled: where it is, `error` is not. */
  readonly program: Program | undefined;
  /** `compilation failed: ERROR: …`, `must evaluate to …`, `program instantiation failed: …`. */
  readonly error: string | undefined;
  /** The mistake is not in the text alone (`program instantiation failed`). */
  readonly internal: boolean;
  /** The static type; dyn when unknown. */
  readonly type: Type;
  /** It names nothing that differs between policies: its result is the same in all of them. */
  readonly shared: boolean;
}

/** How an expression is compiled. */
export interface ExpressionOptions {
  readonly environment: Environment;
  readonly wanted: ResultType;
  /** What is compiled; it may be a trimmed form of what is written. */
  readonly text: string;
  /** Variables whose values differ between policies. */
  readonly privateNames: readonly string[];
  /** Gets programs that tell every value they come by. */
  readonly watch?: ((program: Program) => Program) | undefined;
}

/** Makes an expression of its text as written. */
export function expressionOf(source: string, options: ExpressionOptions): Expression {
  const { environment, wanted, text, privateNames, watch } = options;
  const compiled = environment.compile(text, watch === undefined ? {} : { trace: true });
  const common = { source, shared: false, internal: false };
  if (!compiled.ok) {
    return { ...common, program: undefined, ...failureText(compiled), type: DYN };
  }
  const { program } = compiled;
  const error = typeError(program.type, wanted);
  if (error !== undefined) return { ...common, program: undefined, error, type: DYN };
  return {
    ...common,
    program: watch === undefined ? program : watch(program),
    shared: !privateNames.some((name) => namesVariable(program.references, name)),
    error: undefined,
    type: program.type,
  };
}

function failureText(failure: CompileFailure): { readonly error: string; readonly internal: boolean } {
  if (failure.phase === "program") return { error: `program instantiation failed: ${failure.text}`, internal: true };
  return { error: `compilation failed: ${failure.text}`, internal: false };
}
