/** The differences between the kinds of CEL policies, as one value: names, costs and error texts of expressions. */
import type { EnvironmentOptions, Type, VariableDeclaration } from "../../cel/index.js";
import type { ResultType } from "./expressions/result-type.js";

/** The name of the type of `variables` in the API server's own policies. */
export const VARIABLES_TYPE = "kubernetes.variables";

/** The dialect of a kind's expressions. */
export interface Dialect {
  /** Version and libraries, functions that the kind adds or replaces, and the variables that every expression can name. */
  readonly environment: EnvironmentOptions;
  /**
   * Variables that only some expressions can name, by their word in {@link Scope}. Their values differ between policies about
   * one request, as those of `variables` do: an expression that names none of them is evaluated once for all policies.
   */
  readonly optional: Readonly<Record<string, readonly VariableDeclaration[]>>;
  readonly variables: VariableRules;
  readonly costs: Costs;
  readonly words: Words;
  /** Names that only some of its expressions can use, or that other dialects have, with the hint for each. */
  readonly knownNames?: ReadonlyMap<string, string>;
}

/** The names that an expression can use beside the variables that all can use. */
export interface Scope {
  /** Words of {@link Dialect.optional}. */
  readonly optional: readonly string[];
  /** The types of `variables.…`; `undefined` where `variables` is not declared. */
  readonly variables: ReadonlyMap<string, Type> | undefined;
  /** Where `variables` grows while the scope is used: identifies the variables declared so far. */
  readonly key?: string;
}

/** The rules of a policy's own variables. */
export interface VariableRules {
  /** The name of the type of `variables`. */
  readonly typeName: string;
  /** The variable of a field of `variables`; `undefined` for a field that cannot be one. */
  readonly nameOf: (field: string) => string | undefined;
}

/** Limits, in units of the CEL cost model. */
export interface Costs {
  /** The cost of one evaluation of one expression or variable. */
  readonly expression: number;
  /** The cost of the validations and message expressions of one evaluation; and again of its audit annotations. Infinity for no limit. */
  readonly evaluation: number;
  /** The cost of the match conditions of one evaluation. */
  readonly conditions: number;
}

/** Texts of failures. */
export interface Words {
  /** The text when an expression does not compile: with the engine's text; `internal` where the mistake is not in the text alone. */
  readonly notCompiled: (text: string, internal: boolean) => string;
  /** The text when an expression has another type than is wanted. */
  readonly wrongType: (wanted: Exclude<ResultType, "any">, type: Type) => string;
  /** The text when an expression could not be evaluated: with its source, and the error. */
  readonly failed: (source: string, error: string) => string;
  /** The text when an expression that does not compile was to be evaluated. */
  readonly uncompiled: (error: string) => string;
  readonly failedVariable: (name: string, error: string) => string;
  readonly uncompiledVariable: (name: string, error: string) => string;
  readonly outOfBudget: string;
}
