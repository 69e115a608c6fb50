/** The work of the language's own functions, and the sizes of their arguments. */

import type { WorkRule } from "../declarations.js";
import { isPlainObject } from "../operators/kind.js";
import { CelError } from "../values/cel-error.js";
import { MapValue, type Result, type Value } from "../values/value.js";
import type { Work } from "../values/work.js";

const rules = (fixed: number, each: number, deep: boolean, ...names: readonly string[]) =>
  names.map((name) => [name, { fixed, each, deep }] as const);

/** A rule, and how the arguments are measured when not by `deep`. */
interface OwnRule extends WorkRule {
  readonly weigher?: "weighKeys" | "weighCount";
}

/** The rules of functions that differ from most, by name. */
const RULES: ReadonlyMap<string, OwnRule> = new Map<string, OwnRule>([
  ...rules(
    20,
    0,
    false,
    "type",
    "dyn",
    "value",
    "hasValue",
    "or",
    "orValue",
    "first",
    "last",
    "optional.of",
    "optional.none",
  ),
  ...rules(20, 2, false, "startsWith", "endsWith"),
  ...rules(300, 20, false, "url", "isURL", "semver", "isSemver", "timestamp", "duration"),
  ...rules(500, 10, false, "quantity", "isQuantity"),
  // For quantities of four thousand digits.
  ...rules(10_000, 10, false, "add", "sub", "isGreaterThan", "isLessThan", "compareTo"),
  ...rules(300, 10, false, "ip", "isIP", "cidr", "isCIDR", "ip.isCanonical", "containsIP", "containsCIDR", "validate"),
  ...rules(300, 20, false, "matches"),
  ...rules(1000, 300, false, "find", "findAll", "regex.extract", "regex.extractAll", "regex.replace"),
  ...rules(
    200,
    30,
    false,
    "split",
    "replace",
    "trim",
    "reverse",
    "charAt",
    "strings.quote",
    "base64.decode",
    "base64.encode",
  ),
  ...rules(500, 20, true, "format"),
  // For instants, which need the calendar.
  ...rules(
    1_500,
    3,
    false,
    ...["getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds"],
    ...["getMinutes", "getMonth", "getSeconds"],
  ),
  ...rules(100, 3, true, "join", "indexOf", "lastIndexOf", "includes", "sum", "min", "max", "isSorted", "flatten"),
  ...rules(200, 30, true, "sort", "distinct", "sets.contains", "sets.equivalent", "sets.intersects"),
  ...rules(200, 30, true, "@sortByAssociatedKeys"),
  ...rules(100, 10, true, "optional.unwrap", "unwrapOpt"),
  ["optional.ofNonZeroValue", { fixed: 100, each: 3, deep: false, weigher: "weighKeys" }],
  ["lists.range", { fixed: 100, each: 20, deep: false, weigher: "weighCount" }],
]);

const USUAL: WorkRule = { fixed: 100, each: 3, deep: false };

/** The rule of one of the language's own functions. */
export const workOf = (name: string): OwnRule => RULES.get(name) ?? USUAL;

/** Units of an element whose parts are not read, compared to a character. */
const ELEMENT = 4;

/** The size of an argument, from which work is estimated: constant time for texts and lists. */
export function weigh(value: Result, work: Work): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.length * ELEMENT;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof MapValue) return value.size * ELEMENT;
  return isPlainObject(value as Value) ? work.keysOf(value).length * ELEMENT : 1;
}

/** The work of a key of a map that is counted anew in each call, compared to a character. */
const COUNTED_KEY = 50;

/** The size of a value for a test whether it is empty: a text's size is known, while a map's keys are all counted. */
export function weighKeys(value: Result, work: Work): number {
  const isMap = typeof value === "object" && value !== null && isPlainObject(value as Value);
  return isMap ? work.keysOf(value).length * COUNTED_KEY : 1;
}

/** Length of the longest list that is made because a number asks for it. */
const LONGEST_ASKED = 1_000_000;

/** The length of a list that a number asks for. */
export const weighCount = (value: Result): number =>
  typeof value === "number" && value > 0 ? Math.min(value, LONGEST_ASKED) : 0;

/**
 * Limit of the measured size of a value that holds others, which may occur in it thousands of times: at three units of work for each (the least that deep
 * rules take) it is enough for the clock to decide alone (`LEAST_STRETCH_UNITS`).
 */
const WEIGHED_MAX = 7_000_000;

/** {@link weigh} with all that lists and maps hold, up to {@link WEIGHED_MAX}. */
export function weighAll(value: Result, work: Work): number {
  if (Array.isArray(value)) {
    let sum = 1;
    for (const element of value as readonly Value[]) {
      if (sum > WEIGHED_MAX) break;
      sum += ELEMENT + weighAll(element, work);
    }
    return sum;
  }
  if (typeof value !== "object" || value === null || value instanceof CelError) return weigh(value, work);
  if (value instanceof MapValue) {
    let sum = 1;
    for (const [key, item] of value.entries()) {
      if (sum > WEIGHED_MAX) break;
      sum += ELEMENT + weigh(key, work) + weighAll(item, work);
    }
    return sum;
  }
  if (!isPlainObject(value as Value)) return weigh(value, work);
  const map = value as { readonly [key: string]: Value };
  let sum = 1;
  for (const key of work.keysOf(map)) {
    if (sum > WEIGHED_MAX) break;
    sum += ELEMENT + key.length + weighAll(map[key] as Value, work);
  }
  return sum;
}
