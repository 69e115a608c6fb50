/** The macros of the language definition: `has`, `all`, `exists`, `exists_one`, `map`, `filter` (spec kubernetes-cel.md 1.8). */
import type { Expr } from "../ast.js";
import { ACCUMULATOR, type NodeFactory } from "../parser/node-factory.js";
import { iterationVariable } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander } from "./macro.js";

/** The loop of a macro apart from its range and variables. */
export interface Loop {
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** `all`: conjunction that stops at the first false. */
export function allLoop(factory: NodeFactory, predicate: Expr): Loop {
  return {
    accuInit: factory.literal(true),
    loopCondition: factory.call("@not_strictly_false", factory.accumulator()),
    loopStep: factory.call("_&&_", factory.accumulator(), predicate),
    result: factory.accumulator(),
  };
}

/** `exists`: disjunction that stops at the first true. */
export function existsLoop(factory: NodeFactory, predicate: Expr): Loop {
  return {
    accuInit: factory.literal(false),
    loopCondition: factory.call("@not_strictly_false", factory.call("!_", factory.accumulator())),
    loopStep: factory.call("_||_", factory.accumulator(), predicate),
    result: factory.accumulator(),
  };
}

/** `exists_one`: counts, never stops early. */
export function existsOneLoop(factory: NodeFactory, predicate: Expr): Loop {
  const increment = factory.call("_+_", factory.accumulator(), factory.literal(1));
  return {
    accuInit: factory.literal(0),
    loopCondition: factory.literal(true),
    loopStep: factory.call("_?_:_", predicate, increment, factory.accumulator()),
    result: factory.call("_==_", factory.accumulator(), factory.literal(1)),
  };
}

/** `map` and `transformList`: appends `transform`, where `filter` (if any) holds. */
export function listLoop(factory: NodeFactory, filter: Expr | undefined, transform: Expr): Loop {
  const append = factory.call("_+_", factory.accumulator(), factory.list(transform));
  return { accuInit: factory.list(), ...keepingLoop(factory, filter, append) };
}

/** A loop over everything whose step is `step` where `filter` (if any) holds, and keeps the accumulator elsewhere. */
export function keepingLoop(factory: NodeFactory, filter: Expr | undefined, step: Expr): Omit<Loop, "accuInit"> {
  return {
    loopCondition: factory.literal(true),
    loopStep: filter === undefined ? step : factory.call("_?_:_", filter, step, factory.accumulator()),
    result: factory.accumulator(),
  };
}

/** A one-variable comprehension over `range`, or the error of its variable. */
function oneVariable(
  factory: NodeFactory,
  range: Expr,
  variable: Expr,
  complaint: string,
  loop: () => Loop,
): Expr | MacroError {
  const iterVar = iterationVariable(variable, complaint);
  if (iterVar instanceof MacroError) return iterVar;
  return factory.comprehension({ range, iterVar, iterVar2: undefined, accuVar: ACCUMULATOR, ...loop() });
}

const quantifier =
  (loop: (factory: NodeFactory, predicate: Expr) => Loop): MacroExpander =>
  (factory, target, args) =>
    oneVariable(factory, target!, args[0]!, "argument must be a simple name", () => loop(factory, args[1]!));

/** The expansion of `map`; `sortBy` builds on it. */
export const expandMap = (factory: NodeFactory, target: Expr, args: readonly Expr[]): Expr | MacroError =>
  oneVariable(factory, target, args[0]!, "argument is not an identifier", () =>
    args.length === 3 ? listLoop(factory, args[1], args[2]!) : listLoop(factory, undefined, args[1]!),
  );

const has: MacroExpander = (factory, _target, args) => {
  const field = args[0]!;
  if (field.kind !== "select") return new MacroError(field.offset, "invalid argument to has() macro");
  return factory.presenceTest(field.operand, field.field);
};

const filter: MacroExpander = (factory, target, args) =>
  oneVariable(factory, target!, args[0]!, "argument is not an identifier", () => listLoop(factory, args[1], args[0]!));

/** The one-variable `existsOne`: part of the language, but Kubernetes doesn't register it. */
export const EXISTS_ONE_CAMEL: Macro = { name: "existsOne", member: true, arity: 2, expand: quantifier(existsOneLoop) };

/** The macros of every environment. */
export const STANDARD_MACROS: readonly Macro[] = Object.freeze([
  { name: "has", member: false, arity: 1, expand: has },
  { name: "all", member: true, arity: 2, expand: quantifier(allLoop) },
  { name: "exists", member: true, arity: 2, expand: quantifier(existsLoop) },
  { name: "exists_one", member: true, arity: 2, expand: quantifier(existsOneLoop) },
  { name: "map", member: true, arity: 2, expand: (factory, target, args) => expandMap(factory, target!, args) },
  { name: "map", member: true, arity: 3, expand: (factory, target, args) => expandMap(factory, target!, args) },
  { name: "filter", member: true, arity: 2, expand: filter },
]);
