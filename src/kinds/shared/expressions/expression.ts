/** Expressions of policies, compiled. */
import { DYN, type Environment, hintText, namesVariable, type Program, type Type } from "../../../cel/index.js";
import type { Words } from "../dialect.js";
import { resultHint } from "./result-hint.js";
import { fits, type ResultType } from "./result-type.js";

/** What of a program is looked at: to evaluate it, and to say what of it was reached. One that is watched is evaluated in one go. */
export type ExpressionProgram = Pick<Program, "source" | "constant" | "checked" | "references" | "evaluate"> &
  Partial<Pick<Program, "evaluateInSteps">>;

/** A compiled expression, or what keeps it from being one: an evaluator meets that at run time. */
export interface Expression {
  /** As written, which is how errors of evaluation quote it. */
  readonly source: string;
  /** As compiled: where it is, `error` is not. */
  readonly program: ExpressionProgram | undefined;
  /** In the dialect's words. */
  readonly error: string | undefined;
  /** What to write instead, where that is known; beside `error`. */
  readonly hint?: string | undefined;
  /** The same, for each mistake of several. */
  readonly hints?: readonly (string | undefined)[];
  /** The mistake is not in the text alone (`program instantiation failed`). */
  readonly internal: boolean;
  /** The static type; dyn when unknown. */
  readonly type: Type;
  /** It names nothing that differs between policies: its result is the same in all of them. */
  readonly shared: boolean;
}

/** An expression with its whole program. */
export interface CompiledExpression extends Expression {
  readonly program: Program | undefined;
}

/** How an expression is compiled. */
export interface ExpressionOptions {
  readonly environment: Environment;
  readonly wanted: ResultType;
  readonly words: Words;
  /** Names that only some expressions can use, and what to say to the others. */
  readonly knownNames?: ReadonlyMap<string, string> | undefined;
  /** What is compiled; it may be a trimmed form of what is written. */
  readonly text: string;
  /** Variables whose values differ between policies. */
  readonly privateNames: readonly string[];
  /** Whether the program tells every value that it comes by. */
  readonly trace: boolean;
}

/** Makes an expression of its text as written. */
export function expressionOf(source: string, options: ExpressionOptions): CompiledExpression {
  const { environment, wanted, words, text, privateNames, trace, knownNames } = options;
  const compiled = environment.compile(text, trace ? { trace } : {});
  const common = { source, shared: false, internal: false };
  const { type = undefined } = compiled.ok ? compiled.program : compiled;
  // A program is built of what has the right type only.
  if (wanted !== "any" && type !== undefined && !fits(type, wanted)) {
    const hint = resultHint(text, type, wanted, environment);
    return { ...common, program: undefined, error: words.wrongType(wanted, type), hint, type: DYN };
  }
  if (!compiled.ok) {
    const internal = compiled.phase === "program";
    const found = environment.hints(text, compiled, knownNames);
    const hint = hintText(found);
    return {
      ...common,
      program: undefined,
      error: words.notCompiled(compiled.text, internal),
      hint,
      ...(hint !== undefined && found.length > 1 && { hints: found.map((each) => each?.text) }),
      internal,
      type: DYN,
    };
  }
  const { program } = compiled;
  return {
    ...common,
    program,
    shared: !privateNames.some((name) => namesVariable(program.references, name)),
    error: undefined,
    type: program.type,
  };
}
