/** The two-variable comprehensions (Kubernetes 1.32): index and element of a list, key and value of a map. */
import type { Expr } from "../ast.js";
import { ACCUMULATOR, type NodeFactory } from "../parser/node-factory.js";
import { iterationVariables } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander } from "./macro.js";
import { allLoop, existsLoop, existsOneLoop, keepingLoop, type Loop, listLoop } from "./standard-macros.js";

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
export const TWO_VARIABLE_MACROS: readonly Macro[] = Object.freeze([
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
