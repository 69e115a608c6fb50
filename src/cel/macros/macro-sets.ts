/** The macros and the syntax of an environment (spec kubernetes-cel.md 4.1). */

import { isSince, type KubernetesVersion } from "../../data/kubernetes-version.js";
import type { Expr } from "../ast.js";
import { MAX_COPIED_NODES, MAX_DEPTH } from "../parser/limits.js";
import { ACCUMULATOR, type NodeFactory } from "../parser/node-factory.js";
import type { ParserOptions } from "../parser/parser-options.js";
import type { Flavour, LanguageExtension } from "../public-types.js";
import { Uint } from "../values/uint.js";
import { identName, iterationVariables } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander, MacroTable } from "./macro.js";
import {
  allLoop,
  EXISTS_ONE_CAMEL,
  existsLoop,
  existsOneLoop,
  expandMap,
  keepingLoop,
  type Loop,
  listLoop,
  STANDARD_MACROS,
} from "./standard-macros.js";

// Macros that bind a name once. They expand to a comprehension over nothing whose accumulator is the bound variable: the back end recognises the shape
// and evaluates the variable at first use (spec kubernetes-cel.md 1.8).

/** The loop variable of a binding; can't be written, so it shadows nothing. */
const UNUSED_VARIABLE = "#unused";

/** The variable that `sortBy` binds its list to. */
const SORT_INPUT = "@__sortBy_input__";

/** `body` with `name` bound to `value`. The step, which is never taken, keeps the name. */
function bind(factory: NodeFactory, name: string, value: Expr, body: Expr): Expr {
  return factory.comprehension({
    range: factory.list(),
    iterVar: UNUSED_VARIABLE,
    iterVar2: undefined,
    accuVar: name,
    accuInit: value,
    loopCondition: factory.literal(false),
    loopStep: factory.ident(name),
    result: body,
  });
}

/** `o.optMap(x, t)` and, with `flat`, `o.optFlatMap(x, t)`. The target is duplicated, as it is in the reference (and so is its cost). */
const optionalMap =
  (name: string, flat: boolean): MacroExpander =>
  (factory, target, args) => {
    const variable = identName(args[0]!);
    if (variable === undefined) {
      return new MacroError(args[0]!.offset, `${name}() variable name must be a simple identifier`);
    }
    const value = factory.memberCall("value", factory.copy(target!));
    if (factory.maxId > MAX_COPIED_NODES) {
      const advice = "every such call in a chain doubles what stands before it; divide the expression";
      return new MacroError(
        args[0]!.offset,
        `${name}() makes the expression larger than ${MAX_COPIED_NODES} nodes: ${advice}`,
      );
    }
    const body = bind(factory, variable, value, args[1]!);
    return factory.call(
      "_?_:_",
      factory.memberCall("hasValue", target!),
      flat ? body : factory.call("optional.of", body),
      factory.call("optional.none"),
    );
  };

const sortBy: MacroExpander = (factory, target, args) => {
  if (target!.kind === "literal" || target!.kind === "map" || target!.kind === "struct") {
    return new MacroError(
      target!.offset,
      "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    );
  }
  const keys = expandMap(factory, factory.ident(SORT_INPUT), args);
  if (keys instanceof MacroError) return keys;
  const sorted = factory.memberCall("@sortByAssociatedKeys", factory.ident(SORT_INPUT), keys);
  return bind(factory, SORT_INPUT, target!, sorted);
};

/** `cel.bind(x, e, t)`; a call of `bind` on anything but the name `cel` is an ordinary call. */
const celBind: MacroExpander = (factory, target, args) => {
  if (identName(target!) !== "cel") return undefined;
  const variable = identName(args[0]!);
  if (variable === undefined) {
    return new MacroError(args[0]!.offset, "cel.bind() variable names must be simple identifiers");
  }
  return bind(factory, variable, args[1]!, args[2]!);
};

/** The macros that come with optional values (Kubernetes 1.28). */
const OPTIONAL_MACROS: readonly Macro[] = Object.freeze([
  { name: "optMap", member: true, arity: 2, expand: optionalMap("optMap", false) },
  { name: "optFlatMap", member: true, arity: 2, expand: optionalMap("optFlatMap", true) },
]);

/** `sortBy` (Kubernetes 1.34). */
const SORT_BY: Macro = { name: "sortBy", member: true, arity: 2, expand: sortBy };

/** `cel.bind`: outside Kubernetes only. */
const CEL_BIND: Macro = { name: "bind", member: true, arity: 3, expand: celBind };

// The two-variable comprehensions (Kubernetes 1.32): index and element of a list, key and value of a map.

/** Inserts a key, or every entry of a map, into the accumulator of `transformMap` and `transformMapEntry`. */
const MAP_INSERT = "cel.@mapInsert";

function twoVariables(
  factory: NodeFactory,
  range: Expr,
  args: readonly Expr[],
  loop: (key: string) => Loop,
): Expr | MacroError {
  const variables = iterationVariables(args[0]!, args[1]!);
  if (variables instanceof MacroError) return variables;
  const [iterVar, iterVar2] = variables;
  return factory.comprehension({ range, iterVar, iterVar2, accuVar: ACCUMULATOR, ...loop(iterVar) });
}

const quantifier =
  (loop: (factory: NodeFactory, predicate: Expr) => Loop): MacroExpander =>
  (factory, target, args) =>
    twoVariables(factory, target!, args, () => loop(factory, args[2]!));

/** The optional filter and the transformation of a `transform…` macro. */
function filterAndTransform(args: readonly Expr[]): readonly [Expr | undefined, Expr] {
  return args.length === 4 ? [args[2], args[3]!] : [undefined, args[2]!];
}

const transformList: MacroExpander = (factory, target, args) => {
  const [filter, transform] = filterAndTransform(args);
  return twoVariables(factory, target!, args, () => listLoop(factory, filter, transform));
};

const transformMap: MacroExpander = (factory, target, args) => {
  const [filter, transform] = filterAndTransform(args);
  return twoVariables(factory, target!, args, (key) => {
    const insert = factory.call(MAP_INSERT, factory.accumulator(), factory.ident(key), transform);
    return { accuInit: factory.emptyMap(), ...keepingLoop(factory, filter, insert) };
  });
};

const transformMapEntry: MacroExpander = (factory, target, args) => {
  const [filter, transform] = filterAndTransform(args);
  return twoVariables(factory, target!, args, () => {
    const insert = factory.call(MAP_INSERT, factory.accumulator(), transform);
    return { accuInit: factory.emptyMap(), ...keepingLoop(factory, filter, insert) };
  });
};

/** The macros of Kubernetes 1.32. */
const TWO_VARIABLE_MACROS: readonly Macro[] = Object.freeze([
  { name: "all", member: true, arity: 3, expand: quantifier(allLoop) },
  { name: "exists", member: true, arity: 3, expand: quantifier(existsLoop) },
  { name: "exists_one", member: true, arity: 3, expand: quantifier(existsOneLoop) },
  { name: "existsOne", member: true, arity: 3, expand: quantifier(existsOneLoop) },
  { name: "transformList", member: true, arity: 3, expand: transformList },
  { name: "transformList", member: true, arity: 4, expand: transformList },
  { name: "transformMap", member: true, arity: 3, expand: transformMap },
  { name: "transformMap", member: true, arity: 4, expand: transformMap },
  { name: "transformMapEntry", member: true, arity: 3, expand: transformMapEntry },
  { name: "transformMapEntry", member: true, arity: 4, expand: transformMapEntry },
]);

// `cel.block([e0, e1, …], t)`: values named by their index, each evaluated at first use and at most once; `cel.index(i)` refers to one. Optimisers
// write expressions so; `cel.iterVar(i, j)` and `cel.accuVar(i, j)` are the names they give to variables of loops.

const slotName = (index: unknown): string => `@index${String(index)}`;

const block: MacroExpander = (factory, target, args) => {
  const [values, body] = args as [Expr, Expr];
  if (identName(target!) !== "cel") return undefined;
  if (values.kind !== "list")
    return new MacroError(values.offset, "cel.block requires the first arg to be a list literal");
  // Each value is nested in the one before it.
  if (values.elements.length > MAX_DEPTH)
    return new MacroError(values.offset, `cel.block takes at most ${MAX_DEPTH} values`);
  return values.elements.reduceRight((inner, value, at) => bind(factory, slotName(at), value, inner), body);
};

const index: MacroExpander = (factory, target, args) => {
  const [position] = args as [Expr];
  if (identName(target!) !== "cel") return undefined;
  if (position.kind !== "literal" || typeof position.value !== "number" || position.value < 0) {
    return new MacroError(position.offset, "cel.index requires a single non-negative int constant arg");
  }
  return factory.ident(slotName(position.value));
};

const loopVariable =
  (name: string, prefix: string): MacroExpander =>
  (factory, target, args) => {
    if (identName(target!) !== "cel") return undefined;
    const wrong = args.find((arg) => arg.kind !== "literal" || typeof arg.value !== "number" || arg.value < 0);
    if (wrong !== undefined) {
      return new MacroError(wrong.offset, `${name} requires two non-negative int constant args`);
    }
    return factory.ident(
      `@${prefix}:${args.map((arg) => (arg.kind === "literal" ? String(arg.value) : "")).join(":")}`,
    );
  };

/** The macros of blocks: outside Kubernetes only. */
const BLOCK_MACROS: readonly Macro[] = Object.freeze([
  { name: "block", member: true, arity: 2, expand: block },
  { name: "index", member: true, arity: 1, expand: index },
  { name: "iterVar", member: true, arity: 2, expand: loopVariable("cel.iterVar", "it") },
  { name: "accuVar", member: true, arity: 2, expand: loopVariable("cel.accuVar", "ac") },
]);

// `math.greatest` and `math.least`: macros because they take any number of arguments (spec kubernetes-cel.md 4.14; not in Kubernetes).

/** `name` is the written name, `internal` the function of one list, or of one or two numbers, that it becomes. */
const extreme =
  (name: string, internal: string): MacroExpander =>
  (factory, target, args) => {
    if (identName(target!) !== "math") return undefined;
    const [first] = args;
    if (first === undefined) return new MacroError(target!.offset, `${name}() requires at least one argument`);
    if (args.length === 1) {
      if (mayBeNumber(first) || isListOfNumbers(first)) return factory.call(internal, first);
      return new MacroError(first.offset, `${name}() invalid single argument value`);
    }
    const wrong = args.find((arg) => !mayBeNumber(arg));
    if (wrong !== undefined) {
      return new MacroError(wrong.offset, `${name}() simple literal arguments must be numeric`);
    }
    return args.length === 2 ? factory.call(internal, ...args) : factory.call(internal, factory.list(...args));
  };

/** Whether an argument is a numeric literal, or an expression whose type only the checker knows. */
function mayBeNumber(arg: Expr): boolean {
  switch (arg.kind) {
    case "literal": {
      const { value } = arg;
      const kind = typeof value;
      return kind === "number" || kind === "bigint" || value instanceof Number || value instanceof Uint;
    }
    case "list":
    case "map":
    case "struct":
      return false;
    default:
      return true;
  }
}

function isListOfNumbers(arg: Expr): boolean {
  return arg.kind === "list" && arg.elements.length > 0 && arg.elements.every(mayBeNumber);
}

/** The macros of the math library. */
const MATH_MACROS: readonly Macro[] = Object.freeze([
  { name: "greatest", member: true, arity: undefined, expand: extreme("math.greatest", "math.@max") },
  { name: "least", member: true, arity: undefined, expand: extreme("math.least", "math.@min") },
]);

/** The first version of Kubernetes with optional values. */
const OPTIONALS_SINCE: KubernetesVersion = "1.28";
/** The first version of Kubernetes with two-variable comprehensions. */
const TWO_VARIABLES_SINCE: KubernetesVersion = "1.32";
/** The first version of Kubernetes with `sortBy`. */
const SORT_BY_SINCE: KubernetesVersion = "1.34";
/**
 * The first version of Kubernetes whose expressions may quote names. Servers of 1.37 are the first that support it, and let new expressions use it
 * already at the version before.
 */
const QUOTED_NAMES_SINCE: KubernetesVersion = "1.36";

/**
 * The parser's options for an environment, and for `kubernetes` and `cel-go` the extensions that they have beside their own. `standard` has every
 * macro, `cel-go` the language's alone.
 */
export function parserOptions(
  flavour: Flavour,
  version: KubernetesVersion,
  extensions: readonly LanguageExtension[] = [],
): ParserOptions {
  const since = (first: KubernetesVersion) =>
    flavour === "standard" || (flavour === "kubernetes" && isSince(version, first));
  const macros: Macro[] = [...STANDARD_MACROS];
  if (since(OPTIONALS_SINCE)) macros.push(...OPTIONAL_MACROS);
  if (since(TWO_VARIABLES_SINCE)) macros.push(...TWO_VARIABLE_MACROS);
  if (since(SORT_BY_SINCE)) macros.push(SORT_BY);
  if (flavour === "standard") macros.push(EXISTS_ONE_CAMEL, CEL_BIND, ...BLOCK_MACROS, ...MATH_MACROS);
  else {
    if (extensions.includes("bindings")) macros.push(CEL_BIND);
    if (extensions.includes("math")) macros.push(...MATH_MACROS);
  }
  const quotedNames = flavour !== "kubernetes" || isSince(version, QUOTED_NAMES_SINCE);
  return { macros: new MacroTable(macros), optionalSyntax: since(OPTIONALS_SINCE), quotedNames };
}
