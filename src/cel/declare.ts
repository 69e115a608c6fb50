/**
 * Short forms of declarations: libraries are tables, and should read as such.
 */

import type { KubernetesVersion } from "../data/kubernetes-version.js";
import type { FunctionDeclaration, Implementation, Overload } from "./declarations.js";
import type { Type } from "./types.js";
import { CelError } from "./values/cel-error.js";
import type { Result } from "./values/value.js";

/**
 * An implementation with the parameter types it really has: `(s: string, n: number) => …`. The declared parameter types of the
 * overload are what justifies them: it is only called with arguments of those kinds (see {@link Implementation}).
 */
export type Native = (...args: never[]) => Result;

const declare = (
  id: string,
  member: boolean,
  params: readonly Type[],
  result: Type,
  implementation: Native | undefined,
): Overload => ({
  id,
  member,
  params,
  result,
  ...(implementation === undefined ? {} : { implementation: implementation as Implementation }),
});

/** An overload called as `f(x)`. */
export const overload = (id: string, params: readonly Type[], result: Type, implementation?: Native): Overload =>
  declare(id, false, params, result, implementation);

/** An overload called as `x.f()`; the first parameter is the receiver. */
export const method = (id: string, params: readonly Type[], result: Type, implementation?: Native): Overload =>
  declare(id, true, params, result, implementation);

/** A function whose overloads are chosen by the kinds of its arguments. Their order matters to the checker: the first match gives the type. */
export const fn = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads });

/** A function of one overload, called as `x.f()`. */
export const methodFn = (name: string, ...signature: Parameters<typeof method>): FunctionDeclaration =>
  fn(name, method(...signature));

/** A function of one overload, called as `f(x)`. */
export const overloadFn = (name: string, ...signature: Parameters<typeof overload>): FunctionDeclaration =>
  fn(name, overload(...signature));

/** The implementation of a test whether a text can be parsed. */
export const isParsed =
  (parse: (text: string) => Result): Native =>
  (text: string): Result =>
    !(parse(text) instanceof CelError);

/** A function with one implementation for all its overloads, which answers for whatever it is given (spec kubernetes-cel.md 3.1). */
export const dynamicFn = (
  name: string,
  dynamic: Implementation,
  ...overloads: readonly Overload[]
): FunctionDeclaration => ({ name, overloads, dynamic });

/** The functions, each of their overloads belonging to environments of at least `since`. */
export const added = (
  since: KubernetesVersion,
  ...functions: readonly FunctionDeclaration[]
): readonly FunctionDeclaration[] =>
  functions.map((declaration) => ({
    ...declaration,
    overloads: declaration.overloads.map((each) => ({ ...each, since })),
  }));
