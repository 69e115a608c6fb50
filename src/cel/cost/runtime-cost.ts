/**
 * The cost of a call at run time (spec kubernetes-cel.md 5.3). Where the checker has left one overload, rules of single overloads apply; otherwise only
 * those that go by the function's name.
 */
import type { CostRule } from "../compiler/plan.js";
import { genericNameOf, isPlainObject, type Kind, kindOf, MADE, nativeNameOf } from "../operators/kind.js";
import { costSize, shallowSize, traversalCost } from "../operators/size.js";
import { CelError } from "../values/cel-error.js";
import { Interruption } from "../values/interruption.js";
import { Uint } from "../values/uint.js";
import { OpaqueValue, Optional, type Result, type Value } from "../values/value.js";
import type { Work } from "../values/work.js";

/** The cost of making a list. */
export const LIST_COST = 10;
/** The cost of making a map. */
export const MAP_COST = 30;
/** The cost of making a message. */
export const STRUCT_COST = 40;
/** The cost of one authorization check: so much that one expression may make two at most. */
const CHECK_COST = 350_000;
/** The size of one requirement of a selector: a list and a struct. */
const REQUIREMENT_COST = LIST_COST + STRUCT_COST;
/** The share of a text that one unit of cost walks through. */
const TEXT = 0.1;
/** The share of a pattern's length that counts as one of its expressions. */
const PATTERN = 0.25;

/** The size of the value at `index`; 1 where there is none. */
const size = (args: readonly Result[], index: number): number => costSize(args[index] ?? null);

/**
 * A rule that measures a text, as data, so that its code can be written in place and the text is measured once: a tenth, rounded up, of the first
 * argument's or the result's code points, `factor` times; or a tenth, rounded down, of the first argument's octets.
 */
export interface TextCost {
  readonly measures: "points" | "octets" | "result";
  readonly factor: number;
}

const TEXT_COSTS = new WeakMap<CostRule, TextCost>();

/** The form of a rule that measures a text as the first argument or the result; `undefined` for other rules. */
export const textCostOf = (rule: CostRule): TextCost | undefined => TEXT_COSTS.get(rule);

function known(measures: TextCost["measures"], factor: number, rule: CostRule): CostRule {
  TEXT_COSTS.set(rule, { measures, factor });
  return rule;
}

/** A tenth of the size of one argument, rounded up, `factor` times. */
function text(index: number, factor = 1): CostRule {
  const rule: CostRule = (args) => Math.ceil(size(args, index) * factor * TEXT);
  return index === 0 ? known("points", factor, rule) : rule;
}

const traversal = known("octets", 1, (args) => traversalCost(args[0] ?? null));
const joined = known("result", 2, (_args, result) => Math.ceil(costSize(result) * 2 * TEXT));
const search: CostRule = (args) => Math.ceil((1 + size(args, 0)) * TEXT) * Math.ceil(size(args, 1) * PATTERN);
const selector: CostRule = (args) => {
  const length = size(args, 1);
  return LIST_COST + Math.ceil(length * TEXT) + Math.ceil(Math.ceil(length * 0.5) * REQUIREMENT_COST);
};

/** The cost of validating; the size of a format's pattern is the format's own. */
const validate: CostRule = (args) => {
  const format = args[0];
  if (!(format instanceof OpaqueValue) || format.patternSize === undefined) return 1;
  return Math.ceil((1 + size(args, 1)) * TEXT) * Math.ceil(format.patternSize * PATTERN);
};

/** The cost of comparing with a network, twice its own size, and of parsing a text first. */
const contains =
  (again: boolean, parsed: boolean): CostRule =>
  (args) => {
    const network = size(args, 0);
    const compared = Math.ceil(2 * network * TEXT) + (again ? Math.ceil(network * TEXT) + 1 : 0);
    return compared + (parsed ? Math.ceil(size(args, 1) * TEXT) : 0);
  };

const smaller: CostRule = (args) => {
  const [a, b] = args;
  const least =
    typeof a === "string" && typeof b === "string" ? smallerText(a, b) : Math.min(size(args, 0), size(args, 1));
  return Math.ceil(least * TEXT);
};

/** The fewer code points of two texts. A text of more than twice as many units as another has more of them, whatever they are. */
function smallerText(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const least = costSize(short);
  return long.length >= 2 * short.length ? least : Math.min(least, costSize(long));
}

/** The cost of `==` and `!=`, by sizes of one kind. A library value on the left of `==` costs one unit. */
export const equalityCost = (
  left: Result,
  right: Result,
  negated: boolean,
  work: Work,
  sizeOf: (value: Result) => number = costSize,
): number => {
  if (!negated && left instanceof OpaqueValue) return 1;
  return Math.ceil(Math.min(sizeIn(left, work, sizeOf), sizeIn(right, work, sizeOf)) * TEXT);
};

/** A size for the cost model; the evaluation keeps those that take long to find. */
function sizeIn(value: Result, work: Work, sizeOf: (value: Result) => number): number {
  if (typeof value === "string") work.left -= value.length;
  const isObject = typeof value === "object" && value !== null && isPlainObject(value as Value);
  return isObject ? work.keysOf(value).length : sizeOf(value);
}

/** The cost of a call that makes a list: 11 and a unit an element. */
const made: CostRule = (_args, result) => 1 + LIST_COST + costSize(result);
const flattened: CostRule = (args) => {
  const wanted = args.length === 2 ? args[1] : 1;
  const found = wanted instanceof CelError ? "*types.Err" : nativeNameOf(wanted as Value);
  if (found !== "types.Int") fault(`ref.Val is ${found}, not types.Int`);
  const depth = Number(wanted);
  // A negative depth counts as one; a product beyond 64 bits as half of their range, which is what Go's conversion makes of it.
  const product = Math.floor(size(args, 0) * (depth < 0 ? 1 : depth));
  return 1 + LIST_COST + (product >= 2 ** 64 ? 2 ** 63 : product);
};

/** The length of a value since 1.38: of an optional that of its content, of an error none. */
function lengthOf(value: Result | undefined): number {
  if (value === undefined || value instanceof CelError) return 0;
  if (value instanceof Optional) return value.value === undefined ? 0 : shallowSize(value.value);
  return costSize(value);
}

const madeSince: CostRule = (_args, result) => 1 + LIST_COST + lengthOf(result);
const flattenedSince: CostRule = ([list, depth]) => {
  const kind = depth === undefined || depth instanceof CelError ? undefined : kindOf(depth);
  const factor = kind === "int" || kind === "uint" ? Number(depth instanceof Uint ? depth.value : depth) : 1;
  return 1 + LIST_COST + lengthOf(list) * Math.max(0, factor);
};

/** The kinds that have a `+`, except lists. */
const ADDED: ReadonlySet<Kind> = new Set(["int", "uint", "double", "string", "bytes", "timestamp", "duration"]);

/** Ends the evaluation, as the reference's does when it measures a value that is not a list. */
function endless(list: Result, nameOf: (value: Value) => string): never {
  if (list instanceof CelError) return fault("*types.Err is not traits.Lister: missing method Add");
  const method = ADDED.has(kindOf(list)) ? "Contains" : "Add";
  return fault(`${nameOf(list)} is not traits.Lister: missing method ${method}`);
}

function fault(conversion: string): never {
  throw new Interruption("fault", `internal error: interface conversion: ${conversion}`);
}

/** Whether the cost of this overload may end the evaluation. */
export function mayFault(overload: string | undefined): boolean {
  return (
    overload === "list_distinct" ||
    overload === "list_flatten_int" ||
    (overload !== undefined && sortCost(overload) !== undefined)
  );
}

/** The cost of comparing every element with every other: twice the square, a tenth more for texts. */
const compared =
  (index: number, nameOf = nativeNameOf): CostRule =>
  (args) => {
    const list = args[index];
    if (!Array.isArray(list)) return endless(list as Result, nameOf);
    const first = list[0] as Result | undefined;
    const factor = typeof first === "string" || first instanceof Uint8Array ? 2 + TEXT : 2;
    return 1 + LIST_COST + Math.floor(list.length * list.length * factor);
  };

const sets =
  (factor: number): CostRule =>
  (args) =>
    1 + size(args, 0) * size(args, 1) * factor;

/** One rule for several names. */
const rules = (rule: CostRule, ...names: readonly string[]): readonly (readonly [string, CostRule])[] =>
  names.map((name) => [name, rule]);

const BY_OVERLOAD: ReadonlyMap<string, CostRule> = new Map<string, CostRule>([
  ...rules(made, "list_slice", "lists_range", "list_reverse"),
  ...rules(flattened, "list_flatten", "list_flatten_int"),
  ["list_distinct", compared(0)],
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
  ...rules(text(1), "starts_with_string", "ends_with_string"),
  ...rules(text(0), "string_to_bytes", "bytes_to_string", "strings_quote", "string_format"),
  ["in_list", (args) => size(args, 1)],
  ...rules((args) => Math.ceil((size(args, 0) + size(args, 1)) * TEXT), "add_string", "add_bytes"),
  ...rules(search, "matches", "matches_string"),
  ["contains_string", (args) => Math.ceil(size(args, 0) * TEXT) * Math.ceil(size(args, 1) * TEXT)],
  ...["less", "less_equals", "greater", "greater_equals"].flatMap((name) =>
    rules(smaller, `${name}_string`, `${name}_bytes`),
  ),
]);

const BY_NAME: ReadonlyMap<string, CostRule | number> = new Map<string, CostRule | number>([
  ["check", CHECK_COST],
  ...rules(selector, "fieldSelector", "labelSelector"),
  ...rules(traversal, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"),
  ...rules(text(0), "url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"),
  ...rules(text(0), "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
  ...rules(text(0, 2), "replace", "split", "ip.isCanonical"),
  ["join", joined],
  ...rules(search, "find", "findAll"),
  ["validate", validate],
]);

/** The cost of a call of one of the language's own overloads; `undefined` for one unit. */
export const overloadCost = (overload: string): CostRule | undefined => BY_OVERLOAD.get(overload);

/** The rules that are others since 1.38 (spec kubernetes-1-38.md 1). */
const SINCE_1_38: ReadonlyMap<string | undefined, CostRule> = new Map<string, CostRule>([
  ...rules(madeSince, "list_slice", "lists_range", "list_reverse"),
  ...rules(flattenedSince, "list_flatten", "list_flatten_int"),
  ["list_distinct", compared(0, (value) => genericNameOf(value, MADE))],
]);

/** {@link callCost} since 1.38. */
export const callCostSince138 = (name: string, overload: string | undefined): number | CostRule =>
  SINCE_1_38.get(overload) ?? callCost(name, overload);

/** The cost in Kubernetes of a call of this function, with this overload left by the checker (`undefined`: several). */
export function callCost(name: string, overload: string | undefined): number | CostRule {
  const ruled =
    (overload === undefined ? undefined : (BY_OVERLOAD.get(overload) ?? sortCost(overload))) ?? BY_NAME.get(name);
  if (ruled !== undefined) return ruled;
  if (name === "ip") return overload === "cidr_ip" ? 1 : text(0);
  if (name === "containsIP") return contains(false, overload === "cidr_contains_ip_string");
  if (name === "containsCIDR") return contains(true, overload === "cidr_contains_cidr_string");
  return 1;
}

function sortCost(overload: string): CostRule | undefined {
  if (!overload.startsWith("list_")) return undefined;
  if (overload.endsWith("_sort")) return compared(0);
  return overload.endsWith("_sortByAssociatedKeys") ? compared(1) : undefined;
}
