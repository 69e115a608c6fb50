/** Expressions of policies, compiled. */
import { DYN, type Environment, hintText, namesVariable, type Program, type Type } from "../../../cel/index.js";
import type { ExpressionMistake } from "../../../kubernetes/field-error.js";
import type { Words } from "../dialect.js";
import { fits, type ResultType } from "./result-type.js";

/** The hint; undefined where only the author knows the intention. A proposal is compiled and tried first: a constant one, or one that only fails, is not given. */
export function resultHint(
  text: string,
  type: Type,
  wanted: ResultType,
  environment: Pick<Environment, "check" | "varies">,
): string | undefined {
  const source = text.trim();
  const whole = /^[\w.?()[\]"']+$/.test(source) ? source : `(${source})`;
  for (const [words, proposal] of proposals(whole, type, wanted)) {
    const checked = environment.check(proposal);
    if (checked.ok && fits(checked.type, wanted) && environment.varies(proposal))
      return `${words}${source.includes("\n") ? shape(proposal, whole) : proposal}`;
  }
  return undefined;
}

/** The proposal; a text of many lines is not repeated. */
const shape = (proposal: string, whole: string): string => proposal.replace(whole, () => "(…)");

function proposals(
  whole: string,
  type: Type,
  wanted: ResultType,
): readonly (readonly [words: string, proposal: string])[] {
  const optional = type.kind === "opaque" && type.name === "optional_type";
  if (wanted === "bool") {
    const open = "an optional value is opened by orValue(): write ";
    if (optional)
      return [
        [open, `${whole}.orValue(false)`],
        [open, `${whole}.orValue(false) == true`],
      ];
    if (type.kind === "dyn") return [["it is not certain to be true or false: write ", `${whole} == true`]];
    if (type.kind === "list" || type.kind === "map")
      return [["say what of it is right: write ", `size(${whole}) == 0`]];
    if (type.kind === "string") return [["compare it with something: write ", `${whole} == ""`]];
    return type.kind === "int" ? [["compare it with something: write ", `${whole} > 0`]] : [];
  }
  if (wanted === "string" || wanted === "string-or-null") {
    if (optional) return [["an optional value is opened by orValue(): write ", `${whole}.orValue("")`]];
    if (type.kind === "list") return [["put its texts together: write ", `${whole}.join(", ")`]];
    return [["make a text of it: write ", `string(${whole})`]];
  }
  if (wanted === "list(JSONPatch)" && type.kind === "object") return [["the patches are a list: write ", `[${whole}]`]];
  return [];
}

/** The parts of a program that are used: for evaluation, and for coverage. One that is watched is evaluated in one go. */
export type ExpressionProgram = Pick<Program, "source" | "constant" | "checked" | "references" | "evaluate"> &
  Partial<Pick<Program, "evaluateInSteps">>;

/** A compiled expression, or its error, which an evaluator meets at run time. */
export interface Expression {
  /** The source as written, which errors of evaluation quote. */
  readonly source: string;
  /** The program; undefined exactly where `error` is set. */
  readonly program: ExpressionProgram | undefined;
  /** The error in the dialect's words. */
  readonly error: string | undefined;
  /** A proposed correction, where one is known; beside `error`. */
  readonly hint?: string | undefined;
  /** All of which `error` tells, one by one. */
  readonly mistakes?: readonly ExpressionMistake[];
  /** The mistake is not in the text alone (`program instantiation failed`). */
  readonly internal: boolean;
  /** The static type; dyn when unknown. */
  readonly type: Type;
  /** Whether it uses no name that differs between policies: its result is the same in all of them. */
  readonly shared: boolean;
}

/** An expression with its whole program. */
export interface CompiledExpression extends Expression {
  readonly program: Program | undefined;
}

/** Options of compiling an expression. */
export interface ExpressionOptions {
  readonly environment: Environment;
  readonly wanted: ResultType;
  readonly words: Words;
  /** Names that only some expressions can use, and the hint for the others. */
  readonly knownNames?: ReadonlyMap<string, string> | undefined;
  /** The compiled text; it may be a trimmed form of the written one. */
  readonly text: string;
  /** Variables whose values differ between policies. */
  readonly privateNames: readonly string[];
  /** Whether the program reports every value. */
  readonly trace: boolean;
}

const ofWhole = (message: string): ExpressionMistake => ({ line: -1, column: 0, message });

/** Makes an expression of its text as written. */
export function expressionOf(source: string, options: ExpressionOptions): CompiledExpression {
  const { environment, wanted, words, text, privateNames, trace, knownNames } = options;
  const compiled = environment.compile(text, trace ? { trace } : {});
  const common = { source, shared: false, internal: false };
  const { type = undefined } = compiled.ok ? compiled.program : compiled;
  // A program is built only of an expression with the right type.
  if (wanted !== "any" && type !== undefined && !fits(type, wanted)) {
    const hint = resultHint(text, type, wanted, environment);
    const error = words.wrongType(wanted, type);
    return { ...common, program: undefined, error, mistakes: [ofWhole(error)], hint, type: DYN };
  }
  if (!compiled.ok) {
    const internal = compiled.phase === "program";
    const found = environment.hints(text, compiled, knownNames);
    const error = words.notCompiled(compiled.text, internal);
    const mistakes = compiled.issues.map(({ line, column, message }, i) => {
      return { line, column, message, hint: found[i]?.text };
    });
    return {
      ...common,
      program: undefined,
      error,
      mistakes: mistakes.length === 0 ? [ofWhole(error)] : mistakes,
      hint: hintText(found),
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
