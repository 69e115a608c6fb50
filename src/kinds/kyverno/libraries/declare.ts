/** Short forms for Kyverno's functions: each declares its work, and many have two names. */
import { type FunctionDeclaration, fn, method, overload, type Type, type WorkRule } from "../../../cel/index.js";

type Implementation = Parameters<typeof overload>[3];

/** The signature, implementation and work of an overload. */
export type Signature = readonly [
  params: readonly Type[],
  result: Type,
  implementation: Implementation,
  work: WorkRule,
];

/** Work that grows with the arguments: `each` units for a character or an element, beside a usual call's. */
export const growing = (each: number, deep = false): WorkRule => ({ fixed: 1_000, each, deep });

/** Work that hardly depends on the arguments. */
export const SMALL: WorkRule = { fixed: 100, each: 0, deep: false };

/** A function called as `f(x)`, under each of the names. */
export const functions = (
  names: readonly string[],
  id: string,
  ...[params, result, implementation, work]: Signature
): readonly FunctionDeclaration[] =>
  names.map((name) => fn(name, { ...overload(id, params, result, implementation), work }));

/** A function called as `x.f()`; the first parameter is the receiver. */
export const methodOf = (
  name: string,
  id: string,
  ...[params, result, implementation, work]: Signature
): FunctionDeclaration => fn(name, { ...method(id, params, result, implementation), work });
