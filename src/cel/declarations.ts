/**
 * The declarations of an environment: variables, object types, functions with their overloads, and libraries that bundle them.
 * One overload carries its signature and its implementation, so that a function is described in one place.
 */
import type { KubernetesVersion } from "../data/kubernetes-version.js";
import type { Waiting } from "./questions.js";
import type { Type } from "./types.js";
import type { Interruption } from "./values/interruption.js";
import type { Result, Value } from "./values/value.js";

/**
 * The implementation of an overload. It gets evaluated arguments (the receiver first), never errors, and returns a value or an error;
 * it throws only an {@link Interruption}, for a result out of all proportion. Arguments may be of any kind where the expression is
 * dynamic: the caller has checked each against the declared parameter (lists by their first element, maps by one entry: spec
 * kubernetes-cel.md 3.1), or the overload is `dynamic`.
 */
export type Implementation = (...args: readonly Value[]) => Result;

/**
 * A call that depends on more than its arguments: it gets the evaluation's state first (`EvaluationOptions.state`), and its answer may be on
 * its way ({@link Waiting}), or a promise where `evaluateAsync` evaluates. Evaluations are repeated, so asking the same twice must do no harm.
 */
export type StatefulCall = (state: unknown, ...args: readonly Value[]) => Result | Waiting | Promise<Result>;

/** A form that the compiler writes in place of a call, so that an argument is evaluated only where it is needed. */
export type LazyForm = "or" | "orValue";

/**
 * The work of a call, in units of about a nanosecond: estimated from the sizes of the arguments, so that the clock is looked at in time. An estimate that
 * is too high only makes the looks more frequent.
 */
export interface WorkRule {
  /** Units of any call. */
  readonly fixed: number;
  /** Units for each character, octet, element and entry of the arguments; 0 where it does not depend on them. */
  readonly each: number;
  /** Whether the parts of elements are read, not only their number. */
  readonly deep: boolean;
}

/** One overload of a function: its signature, and an `implementation` or a `call`. */
export interface Overload {
  /** The overload's id, as the reference implementation names it: cost rules refer to it. */
  readonly id: string;
  /** Member call (`x.f()`): the first parameter is the receiver. */
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** Pure: equal arguments have equal answers, and it may be called while an expression is compiled. Absent, as `call` is, for operators. */
  readonly implementation?: Implementation;
  /** Not pure: called once for every evaluation of the call. Takes the place of `implementation`. */
  readonly call?: StatefulCall;
  /**
   * Cost units of a call. Present on every overload that was added to an environment (default 1): rules that go by names and ids of the
   * language's own functions do not hold for those.
   */
  readonly cost?: number;
  /** The work of a call of an added function; default 2,000 units, whatever the arguments. */
  readonly work?: WorkRule;
  /** The form used where only this overload may apply; the implementation is called where others may, too. */
  readonly lazy?: LazyForm;
  /**
   * Arguments behind one that failed are not evaluated, although there are only two (spec kubernetes-cel.md 2.8): the reference calls this
   * overload with a list of arguments.
   */
  readonly sequential?: true;
  /** The first environment version that has it (default: all). */
  readonly since?: KubernetesVersion;
}

/** A function: a name and its overloads. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** Takes the place of every earlier overload of this name, rather than standing beside them. */
  readonly replaces?: true;
  /**
   * For functions whose reference implementation dispatches on the first operand's abilities (operators, `size`, `matches`, `sort`):
   * called with whatever arguments there are, and itself answers "no such overload" (spec kubernetes-cel.md 3.1).
   */
  readonly dynamic?: Implementation;
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

/**
 * Object types that cannot be declared one by one, since there is one for every name of some form. Their names may stand before a message literal's
 * `{`, but not as values: such an expression is refused while it is planned.
 */
export interface ObjectTypeProvider {
  /** The first parts of the dotted names that it finds. */
  readonly namespaces: readonly string[];
  /** The type of this name, `undefined` if it is not a type. Must answer the same each time. */
  readonly find: (name: string) => ProvidedObjectType | undefined;
}

/** An object type that is found by its name. */
export interface ProvidedObjectType {
  /** The type of a field; `undefined` where the type has no such field. */
  readonly fields: Pick<ReadonlyMap<string, Type>, "get">;
  /** Builds a value from a message literal's fields. */
  readonly construct: (fields: ReadonlyMap<string, Value>) => Result;
}

/** A bundle of declarations, such as the strings library. */
export interface Library {
  readonly name: string;
  readonly functions: readonly FunctionDeclaration[];
  /** Names of types usable as identifiers, with their type (`net.IP`). */
  readonly typeNames?: ReadonlyMap<string, Type>;
}
