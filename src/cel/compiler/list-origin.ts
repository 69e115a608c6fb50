/**
 * The elements of lists and maps as the reference names their Go types since 1.38 (spec kubernetes-1-38.md 1): an error about a key names the type of the value
 * by where it comes from.
 */
import type { Expr } from "../ast.js";
import { CONCATENATED, DATA, MADE, type Parts } from "../operators/kind.js";
import type { Type } from "../types.js";

const SCALARS: Partial<Record<Type["kind"], Parts>> = {
  bool: "bool",
  double: "float64",
  int: "int64",
  string: "string",
  uint: "uint64",
};

/** Knowledge of names: the static type of a part, and the range of a comprehension's variable (`undefined` for names of the environment). */
export interface Origins {
  readonly typeOf: (expr: Expr) => Type | undefined;
  readonly rangeOf: (name: string) => Expr | undefined;
}

/** The parts of the value of an expression, should it be a list or a map. */
export function partsOf(expr: Expr, origins: Origins): Parts {
  switch (expr.kind) {
    case "ident": {
      const range = expr.rooted ? undefined : origins.rangeOf(expr.name);
      return range === undefined ? declared(origins.typeOf(expr)) : elementsOf(range, origins);
    }
    case "select":
      return expr.testOnly ? MADE : elementsOf(expr.operand, origins);
    case "call":
      return resultOf(expr.function, expr.target === undefined ? expr.args : [expr.target, ...expr.args], origins);
    default:
      return MADE;
  }
}

/** The parts of a part of a value. */
function elementsOf(expr: Expr, origins: Origins): Parts {
  if (expr.kind === "list") return expr.elements[0] === undefined ? MADE : partsOf(expr.elements[0], origins);
  if (expr.kind === "map") return expr.entries[0] === undefined ? MADE : partsOf(expr.entries[0].value, origins);
  return partsOf(expr, origins) === DATA ? DATA : MADE;
}

function resultOf(name: string, args: readonly Expr[], origins: Origins): Parts {
  const first = args[0] as Expr;
  switch (name) {
    case "_+_":
      return CONCATENATED;
    case "_?_:_":
      return partsOf(args[1] as Expr, origins);
    case "_[_]":
    case "_?._":
    case "_[?_]":
      return elementsOf(first, origins);
    case "dyn":
    case "reverse":
    case "slice":
    case "value":
    case "optional.of":
      return partsOf(first, origins);
    case "split":
    case "findAll":
      return "string";
    case "lists.range":
      return "int";
    default:
      return MADE;
  }
}

/** The parts of a variable's value. */
function declared(type: Type | undefined): Parts {
  const part = type?.kind === "list" ? type.element : type?.kind === "map" ? type.value : undefined;
  return (part && SCALARS[part.kind]) ?? DATA;
}
