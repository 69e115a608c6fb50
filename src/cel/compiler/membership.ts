/**
 * `x in [constants]` as a look-up in a set (spec kubernetes-cel.md 2.6). The set holds each number also as the other kinds of number it converts to,
 * which is what makes it differ from `==` beyond 2^53.
 */
import { doubleOf } from "../operators/kind.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";
import type { MembershipPlan } from "./plan.js";

/** The look-up; `"empty"` for an empty list; `undefined` where an element is not a bool, number or string. */
export function constantMembership(list: Value): Pick<MembershipPlan, "contains" | "strings"> | "empty" | undefined {
  if (!Array.isArray(list)) return undefined;
  if (list.length === 0) return "empty";
  const strings = new Set<string>();
  const others = new Set<unknown>();
  for (const element of list as readonly Value[]) {
    if (typeof element === "string") strings.add(element);
    else if (typeof element === "boolean") others.add(element);
    else if (isNumber(element)) addNumber(others, element);
    else return undefined;
  }
  return {
    contains: (value) =>
      typeof value === "string"
        ? strings.has(value)
        : typeof value === "boolean"
          ? others.has(value)
          : isNumber(value) && others.has(tag(value)),
    strings: others.size === 0 && strings.size > 0 ? strings : undefined,
  };
}

function isNumber(value: Value): boolean {
  return typeof value === "number" || typeof value === "bigint" || value instanceof Uint || value instanceof Number;
}

/** A key that two numbers share when they have the same kind and value. */
function tag(value: Value): string {
  if (value instanceof Uint) return `u${value.value}`;
  const double = doubleOf(value);
  // The two zeros are one key, and NaN has none.
  if (double !== undefined) return Number.isNaN(double) ? "none" : `d${double + 0}`;
  return `i${String(value)}`;
}

function addNumber(set: Set<unknown>, value: Value): void {
  const double = doubleOf(value);
  if (double !== undefined) {
    if (Number.isNaN(double)) return;
    set.add(tag(value));
    if (!Number.isInteger(double)) return;
    if (double > -(2 ** 63) && double < 2 ** 63) set.add(`i${BigInt(double)}`);
    if (double >= 0 && double < 2 ** 64) set.add(`u${BigInt(double)}`);
    return;
  }
  const integer = BigInt(value instanceof Uint ? value.value : (value as number | bigint));
  set.add(tag(value));
  set.add(`d${Number(integer)}`);
  if (value instanceof Uint ? integer < 2n ** 63n : integer >= 0n) {
    set.add(value instanceof Uint ? `i${integer}` : `u${integer}`);
  }
}
