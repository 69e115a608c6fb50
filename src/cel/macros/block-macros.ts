/**
 * `cel.block([e0, e1, …], t)`: values named by their index, each evaluated at first use and at most once; `cel.index(i)` is one of them. Optimisers write
 * expressions so; `cel.iterVar(i, j)` and `cel.accuVar(i, j)` are the names they give to variables of loops.
 */
import type { Expr } from "../ast.js";
import { MAX_DEPTH } from "../parser/limits.js";
import { bind } from "./binding-macros.js";
import { identName } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander } from "./macro.js";

const slotName = (index: unknown): string => `@index${String(index)}`;

const block: MacroExpander = (factory, target, args) => {
  const [values, body] = args as [Expr, Expr];
  if (identName(target!) !== "cel") return undefined;
  if (values.kind !== "list")
    return new MacroError(values.offset, "cel.block requires the first arg to be a list literal");
  // Each stands inside of the one before it.
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
export const BLOCK_MACROS: readonly Macro[] = Object.freeze([
  { name: "block", member: true, arity: 2, expand: block },
  { name: "index", member: true, arity: 1, expand: index },
  { name: "iterVar", member: true, arity: 2, expand: loopVariable("cel.iterVar", "it") },
  { name: "accuVar", member: true, arity: 2, expand: loopVariable("cel.accuVar", "ac") },
]);
