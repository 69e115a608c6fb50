/** What differs between the kinds of CEL policies, as one value: what expressions may name, what they may cost, how their failures are worded. */
import type { EnvironmentOptions, Type, VariableDeclaration } from "../../cel/index.js";
import type { ResultType } from "./expressions/result-type.js";

/** A kind's expressions. */
export interface Dialect {
  /** Version and libraries, functions that the kind adds or replaces, and the variables that every expression can name. */
  readonly environment: EnvironmentOptions;
  /**
   * Variables that only some expressions can name, by the word that their {@link Scope} has for them. Their values differ between policies that
   * look at one request, as those of `variables` do: what names none of them is evaluated once for all policies.
   */
  readonly optional: Readonly<Record<string, readonly VariableDeclaration[]>>;
  readonly variables: VariableRules;
  readonly costs: Costs;
  readonly words: Words;
  /** Names that only some of its expressions can use, or that other dialects have, and what hints say of them. */
  readonly knownNames?: ReadonlyMap<string, string>;
}

/** What an expression may name beside the variables that all can name. */
export interface Scope {
  /** Words of {@link Dialect.optional}. */
  readonly optional: readonly string[];
  /** The types of `variables.…`; `undefined` where `variables` is not declared. */
  readonly variables: ReadonlyMap<string, Type> | undefined;
  /** Where `variables` grows while the scope is used: what tells those that there are by now from all others. */
  readonly key?: string;
}

/** How a policy's own variables are seen. */
export interface VariableRules {
  /** The name of the type of `variables`. */
  readonly typeName: string;
  /** The name that is looked up for a field of `variables`; `undefined` for a field that can name none. */
  readonly nameOf: (field: string) => string | undefined;
}

/** Limits, in units of the CEL cost model. */
export interface Costs {
  /** One evaluation of one expression or variable. */
  readonly expression: number;
  /** The validations and message expressions of one evaluation; and again its audit annotations. Infinity for no limit. */
  readonly evaluation: number;
  /** The match conditions of one evaluation. */
  readonly conditions: number;
}

/** Texts of failures. */
export interface Words {
  /** An expression does not compile: the engine's text; `internal` where the mistake is not in the text alone. */
  readonly notCompiled: (text: string, internal: boolean) => string;
  /** An expression gives another type than is wanted. */
  readonly wrongType: (wanted: Exclude<ResultType, "any">, type: Type) => string;
  /** An expression could not be evaluated: its text, and the error. */
  readonly failed: (source: string, error: string) => string;
  /** An expression that does not compile was to be evaluated. */
  readonly uncompiled: (error: string) => string;
  readonly failedVariable: (name: string, error: string) => string;
  readonly uncompiledVariable: (name: string, error: string) => string;
  readonly outOfBudget: string;
}
