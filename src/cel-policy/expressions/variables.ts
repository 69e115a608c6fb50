/**
 * `variables.…`: evaluated when first touched, once per group of expressions, value or error (spec validating-admission-policy.md 5.7).
 */
import { CelError, DYN, listType, mapType, ObjectValue, type Result, type Type } from "../../cel/index.js";
import type { Expression } from "./expression.js";
import { VARIABLES } from "./expression-compiler.js";
import { RESERVED_WORDS } from "./reserved-words.js";

/** Evaluates a variable's expression; charges its cost to whoever touched it. */
export type VariableEvaluator = (expression: Expression) => Result;

/** The variables of one group of expressions (disposable). */
export class Variables extends ObjectValue {
  readonly typeName = VARIABLES;
  private readonly known = new Map<string, Result>();

  constructor(
    private readonly expressions: ReadonlyMap<string, Expression>,
    private readonly evaluate: VariableEvaluator,
  ) {
    super();
  }

  get(field: string): Result | undefined {
    const known = this.known.get(field);
    if (known !== undefined) return known;
    const name = unescapedName(field);
    const expression = name === undefined ? undefined : this.expressions.get(name);
    if (name === undefined || expression === undefined) return undefined;
    const result = this.value(name, expression);
    this.known.set(field, result);
    return result;
  }

  private value(name: string, expression: Expression): Result {
    if (expression.error !== undefined) {
      return new CelError(`composited variable "${name}" fails to compile: ${expression.error}`);
    }
    const result = this.evaluate(expression);
    if (!(result instanceof CelError)) return result;
    return new CelError(`composited variable "${name}" fails to evaluate: ${result.message}`);
  }

  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value !== undefined;
  }

  fields(): Iterable<string> {
    return this.expressions.keys();
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["underscores", "__"],
  ["dot", "."],
  ["dash", "-"],
  ["slash", "/"],
]);

/**
 * The name that the API server's evaluator looks up for one in an expression: it takes names for escaped, so that some that look so can
 * never be found (spec validating-admission-policy.md 5.7). `undefined` for a name that is no escaped one although it looks so.
 */
export function unescapedName(name: string): string | undefined {
  if (!name.includes("__")) return name;
  let valid = true;
  const unescaped = name.replace(/__([^_]+)__/g, (whole, word: string) => {
    const character = ESCAPES.get(word);
    if (character !== undefined) return character;
    if (!RESERVED_WORDS.has(word) || whole.length !== name.length) valid = false;
    return word;
  });
  return valid ? unescaped : undefined;
}

/** The type that later expressions see of a variable: scalars, lists and maps keep theirs, all else is dyn. */
export function variableType(type: Type): Type {
  switch (type.kind) {
    case "list":
      return listType(variableType(type.element));
    case "map":
      return mapType(variableType(type.key), variableType(type.value));
    case "opaque":
    case "object":
    case "type":
    case "param":
    case "wrapper":
    case "error":
      return DYN;
    default:
      return type;
  }
}
