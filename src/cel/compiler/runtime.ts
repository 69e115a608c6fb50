/**
 * The functions that generated code calls: the slow and complete forms, and parts that need no fast one.
 */

import { add, divide, modulo, multiply, negate, subtract } from "../operators/arithmetic.js";
import { listContains } from "../operators/compare.js";
import {
  genericNameOf,
  goNameOf,
  isPlainObject,
  kindOf,
  nativeNameOf,
  type Parts,
  typeNameOf,
} from "../operators/kind.js";
import { badKey, entriesOf, findKey, isUsableKey, keysOf } from "../operators/maps.js";
import { printKey } from "../operators/print.js";
import {
  isDeclaredPresent,
  isPresent,
  isPresentStrictly,
  isQualifier,
  qualify,
  qualifyDeclared,
  qualifyOptional,
  qualifyOptionalStrictly,
} from "../operators/qualify.js";
import { costSize, shallowSize } from "../operators/size.js";
import type { Flavour } from "../public-types.js";
import { Waiting } from "../questions.js";
import { printedValue } from "../stdlib/printed-value.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { codePointLength as codePoints } from "../values/code-points.js";
import { Interruption } from "../values/interruption.js";
import { Lazy } from "../values/lazy.js";
import { ListSum, MadeList } from "../values/made-list.js";
import { MARK } from "../values/mark.js";
import { MapValue, Optional, type Result, type Value } from "../values/value.js";
import { equality, ordered, orderedNumbers } from "./comparisons.js";
import type { EmitOptions } from "./emitting.js";
import { type Meter, PENDING, spend } from "./meter.js";
import type { StatefulCallee } from "./plan.js";
import { TEXT_HELPERS } from "./text-helpers.js";
import { weigh, weighAll, weighCount, weighKeys } from "./work.js";

const isError = (value: unknown): value is CelError => value instanceof CelError;

/** A variable that is not plain data: missing, lazy, an error, or one of the engine's classes. */
function global(bound: unknown, name: string): Result {
  if (bound === undefined) return new CelError(`no such attribute(s): ${name}`, "no-such-attribute");
  if (bound instanceof Lazy) {
    const value = bound.get();
    if (value instanceof Waiting) throw new Interruption("waiting");
    return value;
  }
  return bound as Result;
}

type OptionalStep = (from: Value, key: Value) => Result | undefined;

/**
 * Steps with constant keys. In `meter.steps`: how many were made. With `optional`, `undefined` for none.
 * @param charges whether an optional step that fails counts
 */
const walker =
  (optionalStep: OptionalStep, charges = false) =>
  (from: Value, keys: readonly Value[], meter: Meter, optional: boolean): Result | undefined => {
    let current = from;
    for (let i = 0; i < keys.length; i++) {
      const next = optional ? optionalStep(current, keys[i] as Value) : qualify(current, keys[i] as Value);
      if (next === undefined || isError(next)) {
        // A failing step counts, a missing optional one does not.
        meter.steps = optional && !(charges && isError(next)) ? i : i + 1;
        return next;
      }
      current = next;
    }
    meter.steps = keys.length;
    return current;
  };

/** One step with a key found at run time; `told` is `true` when the key is read from a variable as it was bound; since 1.38 it is what the key is made of. */
const stepper =
  (optionalStep: OptionalStep) =>
  (from: Value, key: Value, optional: boolean, told: boolean | Parts): Result | undefined => {
    if (isQualifier(key)) return optional ? optionalStep(from, key) : qualify(from, key);
    const name = typeof told === "string" ? genericNameOf(key, told) : told ? goNameOf(key) : nativeNameOf(key);
    return new CelError(`invalid qualifier type: ${name}`);
  };

/** The error of `!` and `?:` for a condition that is not a bool. */
const notBool = (value: Result): CelError => (isError(value) ? value : noSuchOverload());

/** `a && b` where `a` is not false: the first error decides, unless `b` is false. */
function and(a: Result, b: Result): Result {
  if (b === false) return false;
  if (a === true) return b === true ? true : notBool(b);
  return notBool(a);
}

function or(a: Result, b: Result): Result {
  if (b === true) return true;
  if (a === false) return b === false ? false : notBool(b);
  return notBool(a);
}

/** The cost of comparing two texts: a tenth of the shorter one's code points, of which either number may be known. */
function shorter(a: string, b: string, meter: Meter, sizeOfA?: number, sizeOfB?: number): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a.length <= 10 || b.length <= 10) return 1;
  spend(meter, a.length + b.length);
  return Math.ceil(Math.min(sizeOfA ?? codePoints(a), sizeOfB ?? codePoints(b)) * 0.1);
}

/** `size` of a text. */
function textSize(text: string, meter: Meter): number {
  spend(meter, text.length);
  return codePoints(text);
}

/** `size` of a value that is neither text nor list. */
function size(value: Result, meter: Meter, otherwise: (value: Value) => Result): Result {
  if (isError(value)) return value;
  if (!isPlainObject(value)) return otherwise(value);
  const keys = meter.keysOf(value);
  spend(meter, 0);
  return keys.length;
}

/** `a + b`; texts and lists are copied. */
function plus(a: Result, b: Result, meter: Meter): Result {
  if (isError(a)) return a;
  if (isError(b)) return b;
  if (typeof a === "object" || typeof a === "string") spend(meter, weigh(a, meter) + weigh(b, meter));
  return add(a, b);
}

/** {@link plus} where sums of lists are marked; an empty list leaves the other as it is. */
function plusKeeping(a: Result, b: Result, meter: Meter): Result {
  if (!Array.isArray(a) || !Array.isArray(b)) return plus(a, b, meter);
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const sum = plus(a, b, meter);
  return isError(sum) ? sum : ListSum.containing(sum as readonly Value[]);
}

/** {@link range} since 1.38: an empty text runs over nothing, also empty octets. */
function rangeOrNothing(of: Value, two: boolean, meter: Meter): readonly Value[] | CelError {
  if (of !== "" && !(of instanceof Uint8Array && of.length === 0)) return range(of, two, meter);
  meter.keys = undefined;
  return NOTHING;
}
const NOTHING: readonly Value[] = [];

const strict2 =
  (operation: (a: Value, b: Value) => Result) =>
  (a: Result, b: Result): Result =>
    isError(a) ? a : isError(b) ? b : operation(a, b);

/** `a in b` on anything. */
function contained(a: Result, b: Result, meter: Meter): Result {
  if (isError(a)) return a;
  if (isError(b)) return b;
  if (Array.isArray(b)) {
    const result = listContains(b, a, meter);
    spend(meter, 0);
    return result;
  }
  const kind = kindOf(b);
  if (kind === "map")
    return isUsableKey(a) ? findKey(b, a) !== undefined : b instanceof MapValue && b.size > 0 && badKey(a);
  return noSuchOverload();
}

/** The answer for a value that a look-up in a set of constants did not find. */
const absent = (value: Result): Result => (isError(value) ? value : !isUsableKey(value) && badKey(value));

/** The work of taking an entry out of a map. */
const ENTRY_UNITS = 20;

/** The range of a loop as arrays of keys (`undefined`: indexes) and values; one-variable loops take `values` only. */
function range(of: Value, two: boolean, meter: Meter): readonly Value[] | CelError {
  meter.keys = undefined;
  if (Array.isArray(of)) return of;
  if (kindOf(of) !== "map") {
    const name = nativeNameOf(of);
    return new CelError(
      two ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`,
    );
  }
  if (!two && isPlainObject(of)) return meter.keysOf(of);
  spend(meter, ENTRY_UNITS * weigh(of, meter));
  if (!two) return keysOf(of);
  // By entry, not by key: a key that is NaN is not found again.
  const entries = [...entriesOf(of)];
  meter.keys = entries.map(([key]) => key);
  return entries.map(([, value]) => value);
}

/** Adds an element of a list literal that is marked optional. */
function pushOptional(list: Value[], element: Result): CelError | undefined {
  if (isError(element)) return element;
  if (!(element instanceof Optional)) {
    return new CelError(`cannot initialize optional list element from non-optional value ${printKey(element)}`);
  }
  if (element.value !== undefined) list.push(element.value);
  return undefined;
}

/** Sets an entry of a map literal as the language definition has it: only ints, uints, bools and strings are keys, each at most once. */
function setUniqueEntry(map: MapValue, key: Value, value: Value, optional: boolean): CelError | undefined {
  const kind = kindOf(key);
  if (kind !== "int" && kind !== "uint" && kind !== "bool" && kind !== "string") {
    return new CelError(`unsupported key type: ${typeNameOf(key)}`);
  }
  if (map.get(key) !== undefined) return new CelError(`Failed with repeated key: ${printedValue(key)}`);
  return setEntry(map, key, value, optional);
}

/** Sets an entry of a map literal; the key is not an error. */
function setEntry(map: MapValue, key: Value, value: Value, optional: boolean): CelError | undefined {
  if (!isUsableKey(key)) return badKey(key);
  if (!optional) map.set(key, value);
  else if (!(value instanceof Optional)) {
    const text = `cannot initialize optional entry '${printKey(key)}' from non-optional value ${printKey(value)}`;
    return new CelError(text);
  } else if (value.value === undefined) map.delete(key);
  else map.set(key, value.value);
  return undefined;
}

/** Sets a field that is marked optional in a message literal. */
function setField(fields: Map<string, Value>, name: string, value: Value): CelError | undefined {
  if (!(value instanceof Optional)) {
    return new CelError(`cannot initialize optional entry '${name}' from non-optional value ${printKey(value)}`);
  }
  if (value.value === undefined) fields.delete(name);
  else fields.set(name, value.value);
  return undefined;
}

/** Inserts into the accumulator of `transformMap` and its siblings, in place. */
function insert(map: Result, key: Result, value: Result): Result {
  if (isError(map)) return map;
  if (isError(key)) return key;
  if (isError(value)) return value;
  const target = map as MapValue;
  if (!isUsableKey(key)) return badKey(key);
  if (target.get(key) !== undefined) return new CelError(`insert failed: key ${printedValue(key)} already exists`);
  target.set(key, value);
  return target;
}

/** Inserts every entry of a map. */
function insertAll(map: Result, entries: Result, meter: Meter): Result {
  if (isError(map)) return map;
  if (isError(entries)) return entries;
  if (kindOf(entries) !== "map") return noSuchOverload();
  spend(meter, 2 * ENTRY_UNITS * weigh(entries, meter));
  for (const [key, value] of entriesOf(entries)) {
    const outcome = insert(map, key, value);
    if (isError(outcome)) return outcome;
  }
  return map;
}

/** Makes an optional of what a chain yields: `undefined` is none. */
const optional = (value: Result | undefined): Result =>
  value === undefined ? Optional.NONE : isError(value) ? value : Optional.of(value);

/** Ends an evaluation whose cost exceeds its limit. */
function exceeded(cost: number, meter: Meter): never {
  meter.cost = cost;
  throw new Interruption("limit");
}

/** Calls a function that depends on the evaluation's state. An answer that has not arrived ends the evaluation, unless others can be asked meanwhile. */
function ask(callee: StatefulCallee, meter: Meter, args: readonly Value[]): Result {
  const { calls } = meter;
  const answer = calls === undefined ? callee.choose(args)(meter.state, ...args) : calls.ask(callee, meter, args);
  if (typeof answer !== "object") return answer;
  if (answer instanceof Waiting) {
    if (calls === undefined) throw new Interruption("waiting");
    return PENDING;
  }
  if (!(answer instanceof Promise)) return answer;
  // No caller waits for it, and its failure must not end the process.
  answer.catch(() => undefined);
  return new CelError(`the answer of '${callee.name}' is a promise, which only evaluateAsync waits for`, "waiting");
}

/** All functions that generated code refers to, by the names it uses. */
export const HELPERS = {
  MARK,
  E: CelError,
  O: Optional,
  MapValue,
  MadeList,
  NONE: Optional.NONE,
  isArray: Array.isArray,
  hasOwn: Object.hasOwn,
  global,
  walk: walker(qualifyOptional),
  step: stepper(qualifyOptional),
  declared: qualifyDeclared,
  isPresent,
  isDeclaredPresent,
  notBool,
  and,
  or,
  ...equality(costSize),
  shorter,
  ordered,
  add: plus,
  subtract: strict2(subtract),
  multiply: strict2(multiply),
  divide: strict2(divide),
  modulo: strict2(modulo),
  negate: (a: Result): Result => (isError(a) ? a : negate(a)),
  contained,
  absent,
  range,
  pushOptional,
  setEntry,
  setField,
  insert,
  insertAll,
  optional,
  exceeded,
  ask,
  codePoints,
  noSuchOverload,
  ...TEXT_HELPERS,
  ceil: Math.ceil,
  floor: Math.floor,
  size,
  textSize,
  weigh,
  weighAll,
  weighCount,
  weighKeys,
} as const;

type Helpers = Readonly<Record<keyof typeof HELPERS, unknown>>;

/** The functions for rules of the language definition that differ from Kubernetes'. */
const STANDARD_HELPERS: Helpers = {
  ...HELPERS,
  walk: walker(qualifyOptionalStrictly),
  step: stepper(qualifyOptionalStrictly),
  isPresent: isPresentStrictly,
  setEntry: setUniqueEntry,
};

/** The functions for the behaviour of Kubernetes 1.38 (spec kubernetes-1-38.md 1). */
const HELPERS_SINCE_1_38: Helpers = {
  ...HELPERS,
  ...equality(shallowSize),
  walk: walker(qualifyOptional, true),
  ordered: orderedNumbers,
  range: rangeOrNothing,
};

const HELPERS_OF: Readonly<Record<Flavour, Helpers>> = {
  kubernetes: HELPERS,
  "cel-go": { ...HELPERS, ordered: orderedNumbers },
  standard: STANDARD_HELPERS,
};

/** The functions that generated code refers to, for these options. */
export function helpersOf({
  flavour,
  behaviour,
  marksLists,
}: Pick<EmitOptions, "flavour" | "behaviour" | "marksLists">): Helpers {
  const helpers = behaviour === "1.38" ? HELPERS_SINCE_1_38 : HELPERS_OF[flavour];
  return marksLists ? { ...helpers, add: plusKeeping } : helpers;
}
