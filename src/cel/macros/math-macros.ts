/** `math.greatest` and `math.least`: macros because they take any number of arguments (spec kubernetes-cel.md 4.14; not in Kubernetes). */
import type { Expr } from "../ast.js";
import { Uint } from "../values/uint.js";
import { identName } from "./iteration-variables.js";
import { type Macro, MacroError, type MacroExpander } from "./macro.js";

/** `name` is what is written, `internal` the function of one list, or of one or two numbers, that it becomes. */
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

/** Whether an argument is a numeric literal, or something whose type only the checker knows. */
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
export const MATH_MACROS: readonly Macro[] = Object.freeze([
  { name: "greatest", member: true, arity: undefined, expand: extreme("math.greatest", "math.@max") },
  { name: "least", member: true, arity: undefined, expand: extreme("math.least", "math.@min") },
]);
