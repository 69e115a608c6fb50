/**
 * An environment: parser, checker, validators, planner and emitter put together over one set of declarations.
 */

import { LRUCache } from "lru-cache";
import { type Behaviour, behaviourOf, type KubernetesVersion, NEWEST_VERSION } from "../data/kubernetes-version.js";
import type { ParsedExpr } from "./ast.js";
import type { CheckedExpr, Declarations } from "./checked.js";
import { TypeChecker } from "./checker/index.js";
import { unchecked } from "./checker/unchecked.js";
import { validate } from "./checker/validators/index.js";
import { type Plan, PlanError } from "./compiler/plan.js";
import { measured } from "./compiler/plan-size.js";
import { Planner } from "./compiler/planner.js";
import type { FunctionDeclaration, ObjectTypeDeclaration, Overload } from "./declarations.js";
import type { Hint } from "./hints/hint.js";
import type { HintSource } from "./hints/hint-source.js";
import { HOLES, withHoles } from "./hints/holes.js";
import { hintsOf } from "./hints/index.js";
import { functionsByName, libraries, typeNamesOf, withFunctions } from "./libraries.js";
import type { MacroTable } from "./macros/macro.js";
import { parserOptions } from "./macros/macro-sets.js";
import { type ParserOptions, parse } from "./parser/index.js";
import { CompiledProgram, KUBERNETES_COST_LIMIT } from "./program.js";
import type {
  Compiled,
  CompileFailure,
  CompileOptions,
  DeclaredNames,
  Environment,
  EnvironmentOptions,
} from "./public-types.js";
import { referencesOf } from "./references.js";
import type { Sample } from "./samples/sample.js";
import { type Budget, type Verdict, verdictOf } from "./samples/trial.js";
import { usageOf } from "./samples/usage.js";
import { DYN, type Type } from "./types.js";
import { Interruption } from "./values/interruption.js";

/** A name that an expression can contain; operators have others. */
const WRITTEN = /^[a-zA-Z][\w.]*$/;
/** Macros that are written as methods of a namespace. */
const NAMESPACES: Readonly<Record<string, string>> = {
  bind: "cel",
  block: "cel",
  index: "cel",
  iterVar: "cel",
  accuVar: "cel",
  greatest: "math",
  least: "math",
};

/** The names, sorted. */
function declaredNames(declarations: Declarations, { macros }: MacroTable): DeclaredNames {
  const functions = new Set<string>();
  const methods = new Set<string>();
  for (const { name, overloads } of declarations.functions.values()) {
    if (!WRITTEN.test(name)) continue;
    for (const { member } of overloads) (member ? methods : functions).add(name);
  }
  for (const { name, member } of macros) {
    const namespace = Object.hasOwn(NAMESPACES, name) ? NAMESPACES[name] : undefined;
    if (namespace !== undefined) functions.add(`${namespace}.${name}`);
    else (member ? methods : functions).add(name);
  }
  return {
    functions: [...functions].sort(),
    methods: [...methods].sort(),
    variables: Array.from(declarations.variables, ([name, type]) => ({ name, type })),
  };
}

/** Parts of an expression up to which its function is made at the first evaluation, within some 20 ms; that of a larger one is made while it is loaded. */
const PARTS_LEFT_FOR_LATER = 1_000;

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Cost units that hints for one expression may take, checks and samples together: some tens of milliseconds. */
const MOST_TRIED = 5_000_000;
/** Cost units of a check for each character: two microseconds. */
const CHECK_CHARACTER_COST = 200;
/** The answer once hints have used up their budget. */
const EXHAUSTED: CompileFailure = { ok: false, issues: [], text: "", phase: "compile" };

type Extension = Pick<EnvironmentOptions, "variables" | "objectTypes" | "functions">;

/** The functions and macros of the language itself, which environments share. */
interface Language {
  readonly functions: Declarations["functions"];
  readonly typeNames: Declarations["typeNames"];
  readonly parsing: ParserOptions;
}

/** Most languages that are kept: a process has one for each version and use of expressions. */
const MAX_LANGUAGES = 16;
const LANGUAGES = new LRUCache<string, Language>({ max: MAX_LANGUAGES });

function languageOf(
  { flavour, extensions = [] }: EnvironmentOptions,
  version: KubernetesVersion,
  behaviour: Behaviour,
) {
  const key = [flavour, version, behaviour, ...extensions].join(" ");
  const known = LANGUAGES.get(key);
  if (known !== undefined) return known;
  const base = libraries(flavour, version, extensions, behaviour);
  const parsing = parserOptions(flavour, version, extensions);
  const language: Language = { functions: functionsByName(base), typeNames: typeNamesOf(base), parsing };
  LANGUAGES.set(key, language);
  return language;
}

/** Makes an environment. */
export function createEnvironment(options: EnvironmentOptions): Environment {
  const version = options.flavour === "kubernetes" ? (options.version ?? NEWEST_VERSION) : NEWEST_VERSION;
  const behaviour = options.flavour === "kubernetes" ? (options.behaviour ?? behaviourOf(version)) : "1.37";
  const { functions, typeNames, parsing } = languageOf(options, version, behaviour);
  const declarations: Declarations = {
    flavour: options.flavour,
    version,
    behaviour,
    container: options.container ?? "",
    variables: new Map(),
    functions,
    objectTypes: new Map(),
    typeProvider: options.typeProvider,
    marksLists: options.marksLists ?? false,
    typeNames,
  };
  return new CelEnvironment(declarations, parsing).extend(options);
}

class CelEnvironment implements Environment {
  readonly #declarations: Declarations;
  readonly #parsing: ParserOptions;
  readonly #checker: TypeChecker;
  #answered: CelEnvironment | undefined;

  constructor(declarations: Declarations, parsing: ParserOptions) {
    this.#declarations = declarations;
    this.#parsing = parsing;
    const macros = parsing.macros.macros.map(({ name }) => name);
    this.#checker = new TypeChecker(declarations, macros);
  }

  check(source: string): { readonly ok: true; readonly type: Type; readonly parsed: ParsedExpr } | CompileFailure {
    return guarded(() => {
      const checked = this.#check(source);
      return "phase" in checked ? checked : { ok: true, type: checked.type, parsed: checked.parsed };
    });
  }

  compile(source: string, options: CompileOptions = {}): Compiled | CompileFailure {
    return guarded(() => this.#compile(source, options));
  }

  #compile(source: string, options: CompileOptions): Compiled | CompileFailure {
    const check = (): CheckedExpr | CompileFailure =>
      options.check === false ? this.#unchecked(source) : this.#check(source);
    const checked = check();
    if ("phase" in checked) return checked;
    const plan = this.#planOf(checked);
    if (plan instanceof PlanError) {
      return { ok: false, issues: [], text: plan.message, phase: "program", type: checked.type };
    }
    const parts = measured(plan);
    const { flavour, behaviour, marksLists } = this.#declarations;
    const cost = options.cost ?? flavour !== "standard";
    const decorations = { trace: options.trace ?? false, cost, flavour, behaviour, marksLists };
    const limit = flavour === "kubernetes" ? KUBERNETES_COST_LIMIT : Number.POSITIVE_INFINITY;
    // Trees are several times the size of the code that runs, and rarely needed again: they are made anew from the source then.
    const again = (): CheckedExpr => {
      const repeated = check();
      if ("phase" in repeated) throw new Error(`an expression that compiled no longer does: ${repeated.text}`);
      return repeated;
    };
    const trees = { checked: again, declarations: this.#declarations, plan: () => this.#plan(again()) };
    const program = new CompiledProgram({
      source: checked.parsed.source,
      type: checked.type,
      references: referencesOf(checked),
      plan,
      trees,
      options: decorations,
      costLimit: limit,
    });
    if (parts > PARTS_LEFT_FOR_LATER) program.prepare();
    return { ok: true, program };
  }

  /** The plan, or the error in the expression's constants. */
  #planOf(checked: CheckedExpr): Plan | PlanError {
    try {
      return this.#plan(checked);
    } catch (error) {
      if (error instanceof PlanError) return error;
      throw error;
    }
  }

  #plan(checked: CheckedExpr): Plan {
    return new Planner(checked, this.#declarations).run();
  }

  names(): DeclaredNames {
    return declaredNames(this.#declarations, this.#parsing.macros);
  }

  extend(options: Extension): Environment {
    const variables = new Map(this.#declarations.variables);
    for (const { name, type } of options.variables ?? []) variables.set(name, type);
    const objectTypes = new Map<string, ObjectTypeDeclaration>(this.#declarations.objectTypes);
    for (const type of options.objectTypes ?? []) objectTypes.set(type.name, type);
    const { functions: more = [] } = options;
    const { functions: before } = this.#declarations;
    const functions = more.length === 0 ? before : withFunctions(before, more.map(added));
    return new CelEnvironment({ ...this.#declarations, variables, objectTypes, functions }, this.#parsing);
  }

  hints(
    source: string,
    failure: CompileFailure,
    known: ReadonlyMap<string, string> = NO_NAMES,
    constants = false,
  ): readonly (Hint | undefined)[] {
    return hintsOf(source, failure, this.#hintSource(known, { cost: MOST_TRIED }, constants));
  }

  varies(source: string): boolean {
    return this.#verdict(source, "", { cost: MOST_TRIED }) === "varies";
  }

  /** The same environment, in which functions that ask the world are answered by samples. */
  #sampled(): CelEnvironment {
    if (this.#answered === undefined) {
      const asking = [...this.#declarations.functions.values()].filter(({ overloads }) => overloads.some(isAsking));
      const variables = HOLES.map((name) => ({ name, type: DYN }));
      this.#answered = this.extend({ variables, functions: asking.map(answeredBySamples) }) as CelEnvironment;
    }
    return this.#answered;
  }

  /** Tries an expression on samples. `own` is the author's text; its other errors are left out. */
  #verdict(proposal: string, own: string, budget: Budget): Verdict {
    const sampled = this.#sampled();
    const source = own === "" ? proposal : withHoles(proposal, sampled.#hintSource(NO_NAMES, budget));
    const checked = sampled.#check(source);
    if ("phase" in checked) return "fails";
    const compiled = sampled.compile(source, { trace: true, cost: true });
    if (!compiled.ok) return "fails";
    return verdictOf(compiled.program, checked, usageOf(checked, sampled.#declarations), own, budget);
  }

  #hintSource(known: ReadonlyMap<string, string>, budget: Budget, constants = false): HintSource {
    const { variables, functions, objectTypes } = this.#declarations;
    const free = new Set<string>();
    const member = new Set<string>();
    for (const { name, overloads } of functions.values()) {
      if (/^[A-Za-z]/.test(name)) for (const overload of overloads) (overload.member ? member : free).add(name);
    }
    for (const macro of this.#parsing.macros.macros) (macro.member ? member : free).add(macro.name);
    return {
      check: (text) => {
        budget.cost -= CHECK_CHARACTER_COST * text.length;
        return budget.cost < 0 ? EXHAUSTED : this.check(text);
      },
      isSound: (proposal, own) => {
        const verdict = this.#verdict(proposal, own, budget);
        return verdict === "varies" || (constants && verdict === "closed");
      },
      parse: (text) => {
        const parsed = parse(text, this.#parsing);
        return parsed.ok ? parsed.parsed : undefined;
      },
      variables: [...variables.keys()],
      free,
      member,
      fieldsOf: (type) => (type.kind === "object" ? [...(objectTypes.get(type.name)?.fields.keys() ?? [])] : []),
      known,
    };
  }

  #unchecked(source: string): CheckedExpr | CompileFailure {
    const parsed = parse(source, this.#parsing);
    return parsed.ok ? unchecked(parsed.parsed, this.#declarations) : { ...parsed, phase: "compile" };
  }

  #check(source: string): CheckedExpr | CompileFailure {
    const parsed = parse(source, this.#parsing);
    if (!parsed.ok) return { ...parsed, phase: "compile" };
    const checked = this.#checker.check(parsed.parsed);
    if (!checked.ok) return { ...checked, phase: "compile" };
    const report = validate(checked.checked, this.#declarations);
    return report === undefined ? checked.checked : { ...report, phase: "compile" };
  }
}

/** Whether an overload asks the world, or an authorizer, which is expensive. */
const isAsking = ({ id, call }: Overload): boolean => call !== undefined || id.endsWith("check_check");

/** A function that asks the world, with sample answers in place of real ones. */
const answeredBySamples = (declaration: FunctionDeclaration): FunctionDeclaration => ({
  ...declaration,
  replaces: true,
  overloads: declaration.overloads.map((overload) =>
    overload.call === undefined
      ? { ...overload, cost: 1 }
      : { ...overload, call: (sample, ...args) => (sample as Sample).answer(declaration.name, args) },
  ),
});

/** The result of compiling an expression; a failure if compiling throws. */
function guarded<Made>(make: () => Made | CompileFailure): Made | CompileFailure {
  try {
    return make();
  } catch (error) {
    // Any error is a failure of this expression: no text of an expression may end its host.
    const text = error instanceof PlanError ? error.message : `the expression cannot be compiled: ${reasonOf(error)}`;
    return { ok: false, issues: [], text, phase: "program" };
  }
}

/** A valid name of an added function. Operators have other names: they are the language's own. */
const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/** An added function: its overloads have a cost, which tells them from the language's own. */
function added(declaration: FunctionDeclaration): FunctionDeclaration {
  if (!NAME.test(declaration.name)) throw new Error(`no function can be declared with the name '${declaration.name}'`);
  return { ...declaration, overloads: declaration.overloads.map((each) => ({ ...each, cost: each.cost ?? 1 })) };
}

/** Constants are evaluated while an expression is compiled, and so may be stopped. */
const reasonOf = (error: unknown): string =>
  error instanceof Interruption
    ? (error.message ?? "it makes or reads a text, a list or a pattern that is too large")
    : String(error);
