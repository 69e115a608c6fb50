/**
 * What an environment declares: variables, object types, functions with their overloads, and libraries that bundle them.
 * One overload carries its signature and its implementation, so that a function is described in one place.
 */
import type { Waiting } from "./questions.js";
import type { Type } from "./types.js";
import type { Interruption } from "./values/interruption.js";
import type { Result, Value } from "./values/value.js";

/** A Kubernetes minor version as a number: 1.37 is 137. A declaration `since` a later version is not part of an environment. */
export type KubernetesMinor = number;

/**
 * The implementation of an overload. It gets evaluated arguments (the receiver first), never errors, and returns a value or an error;
 * it throws nothing but an {@link Interruption}, for a result out of all proportion. Arguments may be of any kind where the expression is
 * dynamic: the caller has checked each against the declared parameter (lists by their first element, maps by one entry: spec
 * kubernetes-cel.md 3.1), or the overload is `dynamic`.
 */
export type Implementation = (...args: readonly Value[]) => Result;

/** One overload of a function. */
export interface Overload {
  /** The overload's id, as the reference implementation names it: cost rules refer to it. */
  readonly id: string;
  /** Member call (`x.f()`): the first parameter is the receiver. */
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** Absent for what the compiler itself builds (logic, ternary, index, equality). */
  readonly implementation?: Implementation;
  /**
   * Arguments behind one that failed are not evaluated, although there are only two (spec kubernetes-cel.md 2.8): the reference calls this
   * overload with a list of arguments.
   */
  readonly sequential?: true;
  /** Since which environment version (default: always). */
  readonly since?: KubernetesMinor;
}

/** A function: a name and its overloads. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * For functions whose reference implementation dispatches on the first operand's abilities (operators, `size`, `matches`, `sort`):
   * called with whatever arguments there are, and itself answers "no such overload" (spec kubernetes-cel.md 3.1).
   */
  readonly dynamic?: Implementation;
}

/** A function the host adds to an environment, such as a member of a policy group. Its answer may be on its way. */
export interface HostFunction {
  readonly name: string;
  readonly overloads: readonly {
    readonly id: string;
    readonly member: boolean;
    readonly params: readonly Type[];
    readonly result: Type;
    /** `state` is the evaluation's own host state, given to `evaluate`. */
    readonly call: (state: unknown, ...args: readonly Value[]) => Result | Waiting;
    /** Cost units charged per call (default 1). */
    readonly cost?: number;
  }[];
}

/** A variable. Dotted names (`authorizer.requestResource`) are allowed. */
export interface VariableDeclaration {
  readonly name: string;
  readonly type: Type;
}

/** An object type: its fields by name. Without `construct` a message literal of it fails as the reference does. */
export interface ObjectTypeDeclaration {
  readonly name: string;
  readonly fields: ReadonlyMap<string, Type>;
  /** Builds a value from a message literal's fields. */
  readonly construct?: (fields: ReadonlyMap<string, Value>) => Result;
}

/** A bundle of declarations, such as the strings library. */
export interface Library {
  readonly name: string;
  readonly functions: readonly FunctionDeclaration[];
  /** Names of types usable as identifiers, with their type (`net.IP`). */
  readonly typeNames?: ReadonlyMap<string, Type>;
}
