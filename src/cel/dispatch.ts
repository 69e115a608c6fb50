/**
 * Choosing an overload by the runtime kinds of its arguments (spec kubernetes-cel.md 3.1). The compiler calls an overload's implementation
 * directly where static types settle which one it is, and asks here for a dispatcher, once per call site, where they don't.
 */
import type { FunctionDeclaration, Implementation, Overload } from "./declarations.js";
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
      return (value) => {
        if (typeNameOf(value) !== "map") return false;
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
 * An implementation that takes arguments of any kinds: the function's own dynamic one, or the first of the overloads that accepts them.
 *
 * @param overloads those that may apply: the only one the checker has left, or (the default) all of the function's; with more than one
 *   left the reference tries all, whatever the checker found
 */
export function dispatcher(
  declaration: FunctionDeclaration,
  overloads: readonly Overload[] = declaration.overloads,
): Implementation {
  const { name, dynamic } = declaration;
  if (dynamic !== undefined) return dynamic;
  const candidates: readonly Candidate[] = overloads.flatMap(({ params, implementation }) =>
    implementation === undefined ? [] : [{ guards: params.map(guardOf), implementation }],
  );
  const only = candidates[0];
  if (only !== undefined && candidates.length === 1) return guarded(name, only);
  return (...args) => {
    for (const { guards, implementation } of candidates) {
      if (guards.length === args.length && guards.every((guard, index) => guard(args[index] as Value))) {
        return implementation(...args);
      }
    }
    return noOverloadFor(name, args);
  };
}

/** An implementation behind the guards of its parameters; with one or two of them without a loop, because most calls are such. */
function guarded(name: string, { guards, implementation }: Candidate): Implementation {
  const [first, second] = guards;
  if (first !== undefined && guards.length === 1) {
    return (value, ...rest) =>
      rest.length === 0 && first(value as Value)
        ? implementation(value as Value)
        : noOverloadFor(name, [value as Value, ...rest]);
  }
  if (first !== undefined && second !== undefined && guards.length === 2) {
    return (a, b, ...rest) =>
      rest.length === 0 && first(a as Value) && second(b as Value)
        ? implementation(a as Value, b as Value)
        : noOverloadFor(name, [a as Value, b as Value, ...rest]);
  }
  return (...args) =>
    guards.length === args.length && guards.every((guard, index) => guard(args[index] as Value))
      ? implementation(...args)
      : noOverloadFor(name, args);
}

/** Calls a function with arguments of whatever kinds: {@link dispatcher} for a single call. */
export const dispatch = (declaration: FunctionDeclaration, args: readonly Value[]): Result =>
  dispatcher(declaration)(...args);
