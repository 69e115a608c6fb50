/** Expressions of policies, compiled. */
import { type CompileFailure, DYN, type Environment, type Issue, type Program, type Type } from "../../cel/index.js";
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
  /** The places of the mistakes in the compiled text. */
  readonly issues: readonly Issue[];
  /** The static type; dyn when unknown. */
  readonly type: Type;
  /** It reads nothing but the request, its objects and its Namespace: its result is the same in every policy. */
  readonly shared: boolean;
}

/** Names whose values differ between policies, bindings and parameters. */
const PRIVATE_NAMES = /\b(?:params|variables|authorizer)\b/;

/** Whether a text can only read what every policy sees alike. Textual, and therefore on the safe side. */
export const isShared = (source: string): boolean => !PRIVATE_NAMES.test(source);

/** Compiles `text` (which may be the trimmed form of `source`). `watch` gets programs that tell every value they come by. */
export function compileExpression(
  environment: Environment,
  source: string,
  wanted: ResultType,
  text: string = source,
  watch?: (program: Program) => Program,
): Expression {
  const compiled = environment.compile(text, watch === undefined ? {} : { trace: true });
  const common = { source, shared: isShared(text), issues: [] as readonly Issue[], internal: false };
  if (!compiled.ok) {
    const { error, internal } = failureText(compiled);
    return { ...common, program: undefined, error, internal, issues: compiled.issues, type: DYN };
  }
  const { program } = compiled;
  const error = typeError(program.type, wanted);
  if (error !== undefined) return { ...common, program: undefined, error, type: DYN };
  return { ...common, program: watch === undefined ? program : watch(program), error: undefined, type: program.type };
}

function failureText(failure: CompileFailure): { readonly error: string; readonly internal: boolean } {
  if (failure.phase === "program") return { error: `program instantiation failed: ${failure.text}`, internal: true };
  return { error: `compilation failed: ${failure.text}`, internal: false };
}
