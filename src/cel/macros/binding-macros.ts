/**
 * Macros that bind a name once. They expand to a comprehension over nothing whose accumulator is the bound variable: the back end
 * recognises the shape and evaluates the variable at first use (spec kubernetes-cel.md 1.8).
 */
import type { Expr } from "../ast.js";
import { MAX_COPIED_NODES } from "../parser/limits.js";
import type { NodeFactory } from "../parser/node-factory.js";
import { identName } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander } from "./macro.js";
import { expandMap } from "./standard-macros.js";

/** The loop variable of a binding; can't be written, so it shadows nothing. */
const UNUSED_VARIABLE = "#unused";

/** The variable that `sortBy` binds its list to. */
const SORT_INPUT = "@__sortBy_input__";

/** `body` with `name` bound to `value`. The step, which is never taken, keeps the name. */
export function bind(factory: NodeFactory, name: string, value: Expr, body: Expr): Expr {
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
export const OPTIONAL_MACROS: readonly Macro[] = Object.freeze([
  { name: "optMap", member: true, arity: 2, expand: optionalMap("optMap", false) },
  { name: "optFlatMap", member: true, arity: 2, expand: optionalMap("optFlatMap", true) },
]);

/** `sortBy` (Kubernetes 1.34). */
export const SORT_BY: Macro = { name: "sortBy", member: true, arity: 2, expand: sortBy };

/** `cel.bind`: outside Kubernetes only. */
export const CEL_BIND: Macro = { name: "bind", member: true, arity: 3, expand: celBind };
