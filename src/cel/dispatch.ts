/**
 * Choosing an overload by the runtime kinds of its arguments (spec kubernetes-cel.md 3.1). The compiler calls an overload's implementation
 * directly where static types settle which one it is, and asks here for a dispatcher, once per call site, where they don't.
 */
import type { FunctionDeclaration, Implementation, Overload, StatefulCall } from "./declarations.js";
import { typeNameOf } from "./operators/kind.js";
import { entriesOf } from "./operators/maps.js";
import type { Type } from "./types.js";
import { noSuchOverload } from "./values/cel-error.js";
import { isDouble, isInt } from "./values/numbers.js";
import { Duration, Timestamp } from "./values/time.js";
import { TypeValue } from "./values/type-value.js";
import { Uint } from "./values/uint.js";
import type { Result, Value } from "./values/value.js";

type Guard = (value: Value) => boolean;

const always: Guard = () => true;

/** Whether a value may be passed for a parameter: lists are judged by their first element, maps by one entry, empty ones pass. */
function guardOf(type: Type): Guard {
  switch (type.kind) {
    case "dyn":
    case "any":
    case "param":
      return always;
    case "error":
      return () => false;
    case "null":
      return (value) => value === null;
    case "bool":
      return (value) => typeof value === "boolean";
    case "int":
      return isInt;
    case "uint":
      return (value) => value instanceof Uint;
    case "double":
      return isDouble;
    case "string":
      return (value) => typeof value === "string";
    case "bytes":
      return (value) => value instanceof Uint8Array;
    case "timestamp":
      return (value) => value instanceof Timestamp;
    case "duration":
      return (value) => value instanceof Duration;
    case "type":
      return (value) => value instanceof TypeValue;
    case "wrapper": {
      const inner = guardOf(type.of);
      return (value) => value === null || inner(value);
    }
    case "list": {
      const element = guardOf(type.element);
      return (value) => Array.isArray(value) && (value.length === 0 || element(value[0] as Value));
    }
    case "map": {
      const key = guardOf(type.key);
      const entry = guardOf(type.value);
      const any = key === always && entry === always;
      return (value) => {
        if (typeNameOf(value) !== "map") return false;
        // Finding the first entry of a wide map takes as long as finding all.
        if (any) return true;
        for (const [firstKey, first] of entriesOf(value)) return key(firstKey) && entry(first);
        return true;
      };
    }
    default:
      return (value) => typeNameOf(value) === type.name;
  }
}

/** An overload that can be called. */
interface Candidate {
  readonly guards: readonly Guard[];
  readonly implementation: Implementation;
}

/** The error of a call whose arguments no overload takes: `no such overload: NAME(KIND, …)`. */
export const noOverloadFor = (name: string, args: readonly Value[]): Result =>
  noSuchOverload(`${name}(${args.map(typeNameOf).join(", ")})`);

/**
 * An implementation that takes arguments of any kinds: the function's own dynamic one, or the first of the overloads that accepts them. Where
 * overloads were added to a dynamic function, those come first.
 *
 * @param overloads those that may apply: the only one the checker has left, or (the default) all of the function's; with more than one
 *   left the reference tries all, whatever the checker found
 */
export function dispatcher(
  declaration: FunctionDeclaration,
  overloads: readonly Overload[] = declaration.overloads,
): Implementation {
  const { dynamic } = declaration;
  const candidates: readonly Candidate[] = tried(declaration, overloads).flatMap(({ params, implementation }) =>
    implementation === undefined ? [] : [{ guards: params.map(guardOf), implementation }],
  );
  const only = candidates[0];
  if (only === undefined && dynamic !== undefined) return dynamic;
  const otherwise = refusal(declaration);
  if (only !== undefined && candidates.length === 1) return guarded(only, otherwise);
  const ofOne = candidates.filter(({ guards }) => guards.length === 1);
  return (...args) => {
    if (args.length === 1) {
      const value = args[0] as Value;
      for (const { guards, implementation } of ofOne) if (guards[0]?.(value)) return implementation(value);
    } else {
      for (const { guards, implementation } of candidates) if (accepts(guards, args)) return implementation(...args);
    }
    return otherwise(...args);
  };
}

/** {@link dispatcher} for a function of which an overload depends on the evaluation's state: chooses what is to be called. */
export function statefulChooser(
  declaration: FunctionDeclaration,
  overloads: readonly Overload[],
): (args: readonly Value[]) => StatefulCall {
  const otherwise = stateless(refusal(declaration));
  const choose = chooser(declaration, overloads, ({ call, implementation }) => {
    return call ?? (implementation && stateless(implementation));
  });
  return (args) => choose(args) ?? otherwise;
}

/** Chooses by the arguments, as {@link dispatcher} does, one of the values that `of` gives for the overloads. */
export function chooser<T>(
  declaration: FunctionDeclaration,
  overloads: readonly Overload[],
  of: (overload: Overload) => T | undefined,
): (args: readonly Value[]) => T | undefined {
  const candidates = tried(declaration, overloads).flatMap((each) => {
    const chosen = of(each);
    return chosen === undefined ? [] : [{ guards: each.params.map(guardOf), chosen }];
  });
  return (args) => {
    for (const { guards, chosen } of candidates) if (accepts(guards, args)) return chosen;
    return undefined;
  };
}

const stateless =
  (implementation: Implementation): StatefulCall =>
  (_state, ...args) =>
    implementation(...args);

/** The overloads that are tried by their parameters: a dynamic implementation answers for all the function's own. */
const tried = ({ dynamic }: FunctionDeclaration, overloads: readonly Overload[]): readonly Overload[] =>
  dynamic === undefined ? overloads : overloads.filter(({ cost }) => cost !== undefined);

const refusal =
  ({ name, dynamic }: FunctionDeclaration): Implementation =>
  (...args) =>
    dynamic === undefined ? noOverloadFor(name, args) : dynamic(...args);

const accepts = (guards: readonly Guard[], args: readonly Value[]): boolean =>
  guards.length === args.length && guards.every((guard, index) => guard(args[index] as Value));

/** An implementation behind the guards of its parameters; with one or two of them without a loop, because most calls are such. */
function guarded({ guards, implementation }: Candidate, otherwise: Implementation): Implementation {
  const [first, second] = guards;
  if (first !== undefined && guards.length === 1) {
    return (value, ...rest) =>
      rest.length === 0 && first(value as Value) ? implementation(value as Value) : otherwise(value as Value, ...rest);
  }
  if (first !== undefined && second !== undefined && guards.length === 2) {
    return (a, b, ...rest) =>
      rest.length === 0 && first(a as Value) && second(b as Value)
        ? implementation(a as Value, b as Value)
        : otherwise(a as Value, b as Value, ...rest);
  }
  return (...args) => (accepts(guards, args) ? implementation(...args) : otherwise(...args));
}
