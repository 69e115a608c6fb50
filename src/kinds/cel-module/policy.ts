/**
 * Kubewarden publishes CEL rules as settings of one module of 22 MB that runs cel-go inside WASM. Such settings are run here by our own
 * engine, with the same answers; where equality is not certain, the module runs.
 */
import {
  answered,
  type Bindings,
  CelError,
  createEnvironment,
  DYN,
  type Environment,
  type EvaluationOptions,
  Lazy,
  type Result,
  Waiting,
} from "../../cel/index.js";
import type { Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import { SLICE_MS } from "../../policy/turns.js";
import { Doubles } from "../shared/doubles.js";
import type { Explainable, PlacedExpression } from "../shared/explain/explainable.js";
import type { ExpressionProgram } from "../shared/expressions/expression.js";
import { interruptionOf, NOT_IN_TIME } from "../shared/expressions/interruption.js";
import { stopDetail } from "../shared/expressions/limit-detail.js";
import {
  evaluateLong,
  type LongExpressions,
  type LongHolder,
  stretchOf,
} from "../shared/expressions/long-expressions.js";
import type { Watcher } from "../shared/watcher.js";
import { goKind, isMap, requestMembers, requestMistake, ruleValues } from "./request-shape.js";
import { type ModuleValidation, readModuleSettings } from "./settings.js";

// A request as the module's expressions see it: Go reads JSON numbers as doubles, and so does this.

/** The variables of expressions, small ones before the large ones that may contain them. */
const NAMES = ["object", "oldObject", "request"] as const;

/** One of {@link NAMES}. */
type Name = (typeof NAMES)[number];

/** The values of the variables, or the module's answer when it can't make them. */
type ModuleInput =
  | { readonly variables: Readonly<Record<Name, Lazy>>; readonly values: Readonly<Record<Name, unknown>> }
  | { readonly error: string }
  | { readonly unreadable: string };

/** Reads a review as the module does, its failures in the module's words. */
function moduleInput(review: Review, doubles: Doubles): ModuleInput {
  const payload: unknown = review.kind === "raw" ? review.payload : review.request;
  const members = requestMembers(payload);
  // The reader of admission reviews has checked the types of their fields.
  const mistake = review.kind === "raw" ? requestMistake(payload, members) : undefined;
  if (mistake !== undefined) return { unreadable: `Error deserializing request: json: cannot unmarshal ${mistake}` };
  const { object, oldObject } = ruleValues(members);
  if (object === undefined) return { error: "cannot unmarshal request object unexpected end of JSON input" };
  for (const [name, value] of Object.entries({ object, oldObject })) {
    if (value === undefined || value === null || isMap(value)) continue;
    const reason = `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
    return { error: `cannot unmarshal request ${name} ${reason}` };
  }
  // Made when an expression refers to them: most refer to `object` only.
  const values = { request: payload, object: object ?? {}, oldObject: oldObject ?? {} };
  return {
    values,
    variables: {
      request: new Lazy(() => doubles.ofMembers(values.request)),
      object: new Lazy(() => doubles.of(values.object)),
      oldObject: new Lazy(() => doubles.of(values.oldObject)),
    },
  };
}

/** The version whose libraries are nearest to the module's: later ones have functions that it does not have, such as `ip` and `cidr`. */
const LIBRARIES = "1.29";

/** The environment of policies without variables, once there is one. */
let plain: Environment | undefined;

/** The options of a policy. */
export interface CelModuleOptions {
  readonly id: string;
  /** Milliseconds an evaluation may take; Infinity for no limit. */
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Shared by policies that get the same reviews. Default: one of its own. */
  readonly doubles?: Doubles;
  /** Watches the rules. */
  readonly watcher?: Watcher | undefined;
  /** The rules that the module's author suggests for its registration. */
  readonly rules?: readonly PolicyRule[];
}

interface CompiledValidation extends Omit<ModuleValidation, "messageExpression"> {
  readonly program: ExpressionProgram;
  readonly messageProgram?: ExpressionProgram;
}

/**
 * The policy that the module's settings describe.
 * @returns undefined when the module must run them: parameters, host capabilities, `namespaceObject`, and any settings it has to refuse
 */
export function compileCelModule(
  settings: Readonly<Record<string, unknown>>,
  options: CelModuleOptions,
): (Policy & Explainable) | undefined {
  const read = readModuleSettings(settings);
  if (read === undefined) return undefined;
  plain ??= createEnvironment({
    flavour: "kubernetes",
    version: LIBRARIES,
    variables: NAMES.map((name) => ({ name, type: DYN })),
  });
  let environment = plain;
  const { watcher } = options;
  const placed: PlacedExpression[] = [];
  const compile = (path: string, source: string, kind: "bool" | "string" | undefined, name?: string) => {
    const compiled = environment.compile(source, { cost: false, trace: watcher !== undefined });
    if (!compiled.ok || (kind !== undefined && compiled.program.type.kind !== kind)) return undefined;
    const { type } = compiled.program;
    const program: ExpressionProgram = watcher === undefined ? compiled.program : watcher.watch(compiled.program);
    placed.push({ path: `settings.${path}`, name, expression: { source, program, error: undefined } });
    return { program, type };
  };
  const variables = new Map<string, ExpressionProgram>();
  for (const [i, { name, expression }] of read.variables.entries()) {
    const variable = compile(`variables[${i}].expression`, expression, undefined, name);
    if (variable === undefined) return undefined;
    variables.set(`variables.${name}`, variable.program);
    environment = environment.extend({ variables: [{ name: `variables.${name}`, type: variable.type }] });
  }
  const validations: CompiledValidation[] = [];
  for (const [i, { messageExpression, ...validation }] of read.validations.entries()) {
    const program = compile(`validations[${i}].expression`, validation.expression, "bool")?.program;
    const messageProgram =
      messageExpression === undefined
        ? undefined
        : compile(`validations[${i}].messageExpression`, messageExpression, "string")?.program;
    if (program === undefined || (messageExpression !== undefined && messageProgram === undefined)) return undefined;
    validations.push({ ...validation, program, ...(messageProgram && { messageProgram }) });
  }
  const doubles = options.doubles ?? new Doubles();
  const programs = [
    ...variables.values(),
    ...validations.flatMap(({ program, messageProgram }) => [program, messageProgram]),
  ];
  const referred = new Set(programs.flatMap((program) => program?.references.variables.map(({ name }) => name) ?? []));
  const names = NAMES.filter((name) => referred.has(name));
  return {
    id: options.id,
    kind: "cel",
    immediate: true,
    implementation: "cel-policy, native",
    rules: options.rules,
    explained: () => [{ title: "", variants: [{ part: read, expressions: placed }] }],
    evaluate: (review, context) => {
      const at = Math.min(context.deadline, options.now() + options.timeoutMs);
      const input = moduleInput(review, doubles);
      const ask = () => evaluate(variables, validations, input, context, { at, now: options.now });
      const prepared = "values" in input ? prepare(input.values, names, doubles, context) : undefined;
      return prepared?.then(() => (context.signal.aborted ? NOT_IN_TIME : ask())) ?? ask();
    },
  };
}

/** Makes the values that expressions refer to, in turns where there are any: a large object needs many doubles. */
function prepare(
  values: Readonly<Record<Name, unknown>>,
  names: readonly Name[],
  doubles: Doubles,
  context: EvaluationContext,
): Promise<void> | undefined {
  const { turns } = context;
  if (turns === undefined) return undefined;
  for (const [i, name] of names.entries()) {
    const prepared = doubles.prepare(values[name], turns, () => context.signal.aborted);
    if (prepared !== undefined) return prepared.then(() => prepare(values, names.slice(i + 1), doubles, context));
  }
  return undefined;
}

function evaluate(
  variables: ReadonlyMap<string, ExpressionProgram>,
  validations: readonly CompiledValidation[],
  input: ModuleInput,
  context: EvaluationContext,
  { at, now }: { readonly at: number; readonly now: () => number },
): Outcome | Promise<Outcome> {
  // The requester controls unreadable parts: such a request must not count as a *no*.
  if ("unreadable" in input) return { verdict: "error", message: input.unreadable, code: 400, cause: "protocol" };
  if ("error" in input) return failure(input.error);
  // Not its signal, which would be made for every evaluation.
  const { turns } = context;
  const held: { since: number | undefined; units: number } = { since: undefined, units: 0 };
  const hasTurns = turns !== undefined;
  const options = { deadline: { at, now, stretch: stretchOf(hasTurns), held } };
  const rules = new RuleEvaluation(options, hasTurns, variables, input.variables);
  const goOn = (i: number, denied: boolean): Promise<Outcome> | undefined =>
    turns?.next().then(() => (context.signal.aborted ? NOT_IN_TIME : from(i, denied)));
  const from = (first: number, isDenied: boolean): Outcome | Promise<Outcome> => {
    const sliceEnds = now() + SLICE_MS;
    let denied = isDenied;
    for (let i = first; i < validations.length; i++) {
      const time = now();
      if (time > at) return NOT_IN_TIME;
      const later = i > first && time > sliceEnds ? goOn(i, false) : undefined;
      if (later !== undefined) return later;
      const validation = validations[i] as CompiledValidation;
      held.since = time;
      held.units = 0;
      if (!denied) {
        const { program } = validation;
        const result = rules.evaluate(program);
        if (result instanceof Waiting) return goOn(i, false) ?? NOT_IN_TIME;
        if (result instanceof CelError)
          return failure(`failed to evaluate expression: ${result.message}`, program.source, result, at, now);
        denied = result !== true;
      }
      if (!denied) continue;
      const message = validation.messageProgram && rules.evaluate(validation.messageProgram);
      if (message instanceof Waiting) return goOn(i, true) ?? NOT_IN_TIME;
      return denial(validation, message, at, now);
    }
    return { verdict: "allow" };
  };
  return from(0, false);
}

const ALWAYS = (): boolean => true;

/** The state in which the rules of one request are evaluated (disposable). Variables are evaluated when first used, once. */
class RuleEvaluation implements LongHolder {
  long: LongExpressions | undefined = undefined;
  readonly #options: EvaluationOptions;
  readonly #hasTurns: boolean;
  readonly #bindings: Bindings;

  constructor(
    options: EvaluationOptions,
    hasTurns: boolean,
    variables: ReadonlyMap<string, ExpressionProgram>,
    input: Readonly<Record<Name, Lazy>>,
  ) {
    this.#options = options;
    this.#hasTurns = hasTurns;
    const bindings: Record<string, Bindings[string]> = { ...input };
    this.#bindings = bindings;
    for (const [name, program] of variables) {
      let known: Result | undefined;
      bindings[name] = new Lazy(() => {
        known ??= answered(this.evaluate(program));
        return known;
      });
    }
  }

  /** Evaluates; {@link Waiting} when others must have their turn first, and the same call is to be repeated. */
  evaluate(program: ExpressionProgram): Result | Waiting {
    if (!this.#hasTurns) return program.evaluate(this.#bindings, this.#options).result;
    return evaluateLong(this, program, this.#bindings, this.#options, ALWAYS).result;
  }
}

/** @param made the result of the expression for the message, where there is one */
function denial(
  { messageProgram, message, expression, code }: CompiledValidation,
  made: Result | undefined,
  at: number,
  now: () => number,
): Outcome {
  if (made === undefined) {
    return { verdict: "deny", message: message ?? `failed expression: ${expression.trim()}`, code };
  }
  if (made instanceof CelError)
    return failure(`failed to evaluate message expression: ${made.message}`, messageProgram?.source, made, at, now);
  return { verdict: "deny", message: String(made), code };
}

function failure(
  message: string,
  source = "",
  error?: CelError,
  at = Number.POSITIVE_INFINITY,
  now = () => 0,
): Outcome {
  const stopped = error && interruptionOf(error, { at, now });
  if (stopped === undefined) return { verdict: "error", message, cause: "expression" };
  const detail = stopDetail(source, stopped);
  return detail === undefined ? stopped : { ...stopped, detail };
}
