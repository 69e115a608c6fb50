/**
 * A group's expression: CEL with one function per member, compiled and checked once at load.
 */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  BOOL,
  type CompileFailure,
  createEnvironment,
  DYN,
  type Environment,
  type Expr,
  type FunctionDeclaration,
  formatType,
  type Hint,
  type Program,
  unparse,
  type Value,
} from "../../cel/index.js";
import { didYouMean } from "../../data/suggest.js";
import { resultHint } from "../shared/expressions/expression.js";
import { fits } from "../shared/expressions/result-type.js";
import type { MemberCalls } from "./member-calls.js";

/** Most different conditions that are tried in every combination: 2^12 evaluations of a small tree take a few milliseconds. */
const MAX_CONDITIONS = 12;

/** The value of a constant condition, such as `1 == 2`; undefined for one that may be true or false. */
type Known = (condition: Expr) => boolean | undefined;

/**
 * The result that every combination of answers leads to, as of `true || a()` or `a() || !a()`; undefined when it depends on
 * them, or there are too many conditions to try.
 * Everything but logic is a condition that may be true or false, unless its value is known; equal conditions are equal.
 */
function constantResult(expr: Expr, known: Known): boolean | undefined {
  const conditions: Conditions = { known, places: new Map() };
  const evaluate = logicOf(expr, conditions);
  const { size } = conditions.places;
  if (size > MAX_CONDITIONS) return undefined;
  const first = evaluate(0);
  for (let answers = 1; answers < 2 ** size; answers++) if (evaluate(answers) !== first) return undefined;
  return first;
}

interface Conditions {
  readonly known: Known;
  /** The bit of each condition, by its text. */
  readonly places: Map<string, number>;
}

/** A truth function over the conditions' answers, one bit each. */
type Logic = (answers: number) => boolean;

function logicOf(expr: Expr, conditions: Conditions): Logic {
  if (expr.kind === "literal" && typeof expr.value === "boolean") {
    const { value } = expr;
    return () => value;
  }
  const operands = expr.kind === "call" && expr.target === undefined ? expr.args : [];
  const [a, b, c] = operands;
  switch (expr.kind === "call" ? expr.function : undefined) {
    case "!_":
      return not(logicOf(a as Expr, conditions));
    case "_&&_":
      return binary(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), (left, right) => left && right);
    case "_||_":
      return binary(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), (left, right) => left || right);
    case "_?_:_":
      return choice(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), logicOf(c as Expr, conditions));
    default:
      return condition(expr, conditions);
  }
}

const not =
  (operand: Logic): Logic =>
  (answers) =>
    !operand(answers);

const binary =
  (left: Logic, right: Logic, join: (left: boolean, right: boolean) => boolean): Logic =>
  (answers) =>
    join(left(answers), right(answers));

const choice =
  (test: Logic, yes: Logic, no: Logic): Logic =>
  (answers) =>
    test(answers) ? yes(answers) : no(answers);

function condition(expr: Expr, { known, places }: Conditions): Logic {
  const value = known(expr);
  if (value !== undefined) return () => value;
  // Conditions are equal if they say the same, wherever they stand.
  const key = JSON.stringify(expr, (name, each: unknown) => {
    if (name === "id" || name === "offset") return undefined;
    return typeof each === "bigint" ? `${each}` : each;
  });
  const index = places.get(key) ?? places.size;
  places.set(key, index);
  return (answers) => ((answers >> index) & 1) === 1;
}

/** A problem of an expression, as text for a person: message, line and caret. */
export interface ExpressionProblem {
  readonly message: string;
  /** Place in the expression: 1-based line, 1-based column in code points; -1 and 0 when it concerns the whole. */
  readonly line: number;
  readonly column: number;
  /** A proposed correction, where one is known. */
  readonly hint?: string | undefined;
}

/** The variables of a group's expression. For raw reviews `object` is the payload, `request` and `oldObject` are null. */
const VARIABLES = [
  { name: "object", type: DYN },
  { name: "oldObject", type: DYN },
  { name: "request", type: ADMISSION_REQUEST },
] as const;

/** Names of policies' expressions that groups' expressions do not have. */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["params", "a group has no parameters: its members have"],
  ["variables", "a group has no variables: write the expression itself here"],
  ["namespaceObject", "a group doesn't see the Namespace: ask about it in a member, or by request.namespace"],
  ["authorizer", "a group can't ask the authorizer: ask it in a member"],
]);

/** Names that an expression can call. Members may have others, which Kubewarden accepts, too: those are never evaluated. */
const CALLABLE = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/** Knowledge about a group beside the text of its expression. */
export interface AboutGroup {
  /** Whether the program reports the value of every part; default no. */
  readonly trace?: boolean;
  /** The members that can never deny; default none. */
  readonly neverDeny?: readonly string[];
  /** The functions that the group's other expressions call. */
  readonly called?: readonly string[];
}

/** The mistakes of an expression. */
export interface Uncompiled {
  readonly problems: readonly ExpressionProblem[];
}

/** The warnings about an expression, and whether it is true as long as members do not fail. */
interface Doubts {
  readonly warnings: readonly ExpressionProblem[];
  readonly alwaysAllows: boolean;
}

/** Compiles a group's expression against its members' names. */
export function compileGroupExpression(
  source: string,
  members: readonly string[],
  about: AboutGroup = {},
): ({ readonly program: Program } & Doubts) | Uncompiled {
  const compiled = compile(source, members, "bool", about.trace);
  if ("problems" in compiled) return compiled;
  const { program, environment } = compiled;
  return { program, ...warningsOf(program, members, environment, about) };
}

/** Compiles the expression of a text of a group's answer; an annotation's may be null, and then there is none. */
export function compileGroupText(
  source: string,
  members: readonly string[],
  wanted: "string" | "string-or-null",
  trace = false,
): { readonly program: Program } | Uncompiled {
  const compiled = compile(source, members, wanted, trace);
  return "problems" in compiled ? { problems: compiled.problems.map(withoutNull) } : compiled;
}

const WANTED = { bool: "a bool", string: "a string", "string-or-null": "a string or null" } as const;

function compile(
  source: string,
  members: readonly string[],
  wanted: keyof typeof WANTED,
  trace = false,
): { readonly program: Program; readonly environment: Environment } | Uncompiled {
  const environment = createEnvironment({
    flavour: "kubernetes",
    variables: VARIABLES,
    objectTypes: ADMISSION_TYPES,
    functions: members.filter((name) => CALLABLE.test(name)).map(memberFunction),
  });
  const compiled = environment.compile(source, trace ? { trace } : {});
  if (!compiled.ok)
    return { problems: problemsOf(compiled, members, environment.hints(source, compiled, KNOWN_NAMES)) };
  const { program } = compiled;
  if (fits(program.type, wanted)) return { program, environment };
  const message = `the expression must be ${WANTED[wanted]}, but it is of type ${formatType(program.type)}`;
  const hint = wanted === "bool" ? undefined : resultHint(source, program.type, wanted, environment);
  return { problems: [{ ...atStart(message), ...(hint !== undefined && { hint }) }] };
}

/** A text and null are of no common type, and dyn(null) would be of none that an annotation takes. */
const withoutNull = (problem: ExpressionProblem): ExpressionProblem =>
  problem.hint?.includes("dyn(null)") === true
    ? { ...problem, hint: 'write "" in place of null: an empty text leaves no annotation' }
    : problem;

/**
 * `name()` asks about the request, `name(value)` about another value. A member replaces a function of the language with its name:
 * an author of `bool(object.x)` has a member of that name, and a policy that denies must not be ignored.
 */
function memberFunction(name: string): FunctionDeclaration {
  const common = {
    member: false,
    result: BOOL,
    call: (state: unknown, value?: Value) => (state as MemberCalls).ask(name, value),
  };
  const overloads = [
    { ...common, id: `member_${name}`, params: [] },
    { ...common, id: `about_${name}`, params: [DYN] },
  ];
  return { name, replaces: true, overloads };
}

function problemsOf(
  failure: CompileFailure,
  members: readonly string[],
  hints: readonly (Hint | undefined)[],
): ExpressionProblem[] {
  if (failure.issues.length === 0) return [atStart(failure.text)];
  const names = [...members, ...VARIABLES.map(({ name }) => name)];
  // Once the first mistake of syntax is corrected as its hint says, the others disappear.
  const mended = failure.issues[0]?.code === "syntax" && hints[0] !== undefined;
  return failure.issues.slice(0, mended ? 1 : undefined).map(({ code, line, column, message, name: unknown }, i) => {
    const hint = hints[i]?.text;
    if (code !== "undeclared-reference" || unknown === undefined) return { message, line, column, hint };
    if (members.includes(unknown)) return { message: `'${unknown}' is a member: call it, ${unknown}()`, line, column };
    const near = didYouMean(unknown, names);
    const help = near || ` (members: ${members.join(", ") || "none"})`;
    // A proposal that the message contains is not repeated as a hint.
    return { message: `unknown name '${unknown}'${help}`, line, column, hint: near === "" ? hint : undefined };
  });
}

function warningsOf(
  program: Program,
  members: readonly string[],
  environment: Environment,
  { neverDeny = [], called = [] }: AboutGroup,
): Doubts {
  const warnings: ExpressionProblem[] = [];
  const { functions } = program.references;
  for (const name of members) {
    if (![...functions, ...called].includes(name))
      warnings.push(atStart(`member '${name}' is never used in the expression`));
  }
  const { constant: folded, parsed } = program;
  const known = (part: Expr): boolean | undefined => knownValue(unparse(part, parsed.macroCalls), members, environment);
  const constant = typeof folded === "boolean" ? folded : constantResult(parsed.expr, known);
  if (constant !== undefined) warnings.push(atStart(`the expression is always ${constant}, whatever the request`));
  const allows = (part: Expr): boolean | undefined =>
    part.kind === "call" && part.target === undefined && neverDeny.includes(part.function) ? true : known(part);
  const always = neverDeny.length === 0 ? constant : constantResult(program.parsed.expr, allows);
  return { warnings, alwaysAllows: always === true };
}

/** Cost units of a constant condition; one that takes more is not evaluated. */
const COST_LIMIT = 10_000;

/** The value of a condition that names neither a variable nor a member. */
function knownValue(condition: string, members: readonly string[], environment: Environment): boolean | undefined {
  const compiled = environment.compile(condition);
  if (!compiled.ok) return undefined;
  const { variables, functions } = compiled.program.references;
  if (variables.length > 0 || functions.some((name) => members.includes(name))) return undefined;
  const { result } = compiled.program.evaluate({}, { costLimit: COST_LIMIT });
  return typeof result === "boolean" ? result : undefined;
}

const atStart = (message: string): ExpressionProblem => ({ message, line: -1, column: 0 });
