/** The functions of the lists extension (spec kubernetes-cel.md 4.4). */
import type { Implementation } from "../declarations.js";
import { compare } from "../operators/compare.js";
import { kindOf, typeNameOf } from "../operators/kind.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MAX_LIST_LENGTH, MAX_SORTED_LENGTH, tooLarge } from "../values/limits.js";
import { isInt } from "../values/numbers.js";
import { Duration, Timestamp } from "../values/time.js";
import type { Result, Value } from "../values/value.js";
import { Members } from "./membership.js";

type Int = number | bigint;
type List = readonly Value[];

/** `slice`: from `start` to before `end`. */
export function slice(list: List, start: Int, end: Int): Result {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > list.length) return new CelError(`${call}, list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

/** `flatten`: lists inside the list are replaced by their elements, `depth` levels deep. It answers for receivers of any kind itself. */
export const flatten: Implementation = (list, given) => {
  const depth = given === undefined ? 1 : given;
  if (!Array.isArray(list) || !isInt(depth)) {
    return noSuchOverload(`${typeText(list as Value)}.flatten(${given === undefined ? "" : typeText(given)})`);
  }
  if (depth < 0) return new CelError("level must be non-negative");
  const flat: Value[] = [];
  return appendFlat(list, Number(depth), flat) ? flat : tooLarge();
};

/** The type of a value with its parameters, as this function's error prints it. */
function typeText(value: Value): string {
  const name = typeNameOf(value);
  if (name === "map") return "map(dyn, dyn)";
  return name === "list" || name === "optional_type" ? `${name}(dyn)` : name;
}

function appendFlat(list: List, depth: number, to: Value[]): boolean {
  for (const element of list) {
    if (depth > 0 && Array.isArray(element)) {
      if (!appendFlat(element, depth - 1, to)) return false;
    } else if (to.push(element) > MAX_LIST_LENGTH) return false;
  }
  return true;
}

/** Most elements of a range: as many as an expression's cost limit could ever allow. */
const MAX_RANGE = 1_000_000;

/** `lists.range`: 0 to before `size`. */
export function range(size: Int): Result {
  if (size < 0) return new CelError(`lists.range: size must be non-negative, got ${size}`);
  if (size > MAX_RANGE) {
    return new CelError(`lists.range: size ${size} exceeds maximum allowed (${MAX_RANGE})`);
  }
  const numbers: number[] = [];
  for (let number = 0; number < size; number++) numbers.push(number);
  return numbers;
}

/** `distinct`: the first of equal elements. */
export function distinct(list: List): Result {
  const seen = new Members();
  const unique: Value[] = [];
  for (const element of list) {
    if (!seen.has(element)) {
      seen.add(element);
      unique.push(element);
    }
  }
  return unique;
}

/** `sort`: answers for any kind of receiver itself. */
export const sort: Implementation = (list) => {
  if (Array.isArray(list)) return sortBy(list, list);
  return refused("sort", list as Value);
};

/** The error for a receiver that is not a list: some kinds refuse a method themselves, and do not name it. */
function refused(method: string, receiver: Value): CelError {
  const bare = typeof receiver === "string" || receiver instanceof Timestamp || receiver instanceof Duration;
  return noSuchOverload(bare ? undefined : method);
}

/** `sortBy`: the elements in the order of their keys. */
export const sortByKeys: Implementation = (list, keys) =>
  Array.isArray(list) && Array.isArray(keys) ? sortBy(list, keys) : refused("@sortByAssociatedKeys", list as Value);

/** Length up to which the reference sorts by insertion, which decides where keys without an order (NaN) go. */
const INSERTION_LENGTH = 12;

function sortBy(list: List, keys: List): Result {
  if (list.length === 0) return list;
  if (list.length > MAX_SORTED_LENGTH) return tooLarge();
  const first = keys[0] as Value;
  if (compare(first, first) === undefined) return new CelError("list elements must be comparable");
  const kind = kindOf(first);
  if (list.length > 1 && keys.some((key) => kindOf(key) !== kind)) {
    return new CelError("list elements must have the same type");
  }
  const order = (a: number, b: number): number => {
    const result = compare(keys[a] as Value, keys[b] as Value);
    return typeof result === "number" ? result : 0;
  };
  const indices = list.map((_, index) => index);
  if (list.length > INSERTION_LENGTH) indices.sort(order);
  else insertionSort(indices, order);
  return indices.map((index) => list[index] as Value);
}

function insertionSort(items: number[], order: (a: number, b: number) => number): void {
  for (let i = 1; i < items.length; i++) {
    for (let j = i; j > 0 && order(items[j] as number, items[j - 1] as number) < 0; j--) {
      [items[j], items[j - 1]] = [items[j - 1] as number, items[j] as number];
    }
  }
}
