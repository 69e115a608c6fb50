/** Lists that functions make, where an environment marks made lists (`EnvironmentOptions.marksLists`). */
import type { Overload } from "../declarations.js";
import type { Type } from "../types.js";
import { MadeList } from "../values/made-list.js";
import { MapValue, Optional, type Result, type Value } from "../values/value.js";
import type { Callee } from "./plan.js";

/** Whether one of these overloads makes lists. Those that only pass a value on, as `optional.of` does, declare none. */
export const makeLists = (overloads: readonly Overload[]): boolean =>
  overloads.some(({ result }) => holdsLists(result));

/** Wraps a function so that the lists it makes are marked. */
export const marking =
  (callee: Callee): Callee =>
  (...args) =>
    marked(callee(...args));

/** The function itself. */
export const asIs = (callee: Callee): Callee => callee;

function holdsLists(result: Type): boolean {
  if (result.kind === "map") return result.value.kind === "list";
  return result.kind === "list" || (result.kind === "opaque" && result.params.some(({ kind }) => kind === "list"));
}

function marked(value: Result): Result {
  if (Array.isArray(value)) return MadeList.containing(value);
  if (value instanceof Optional) return value.value === undefined ? value : Optional.of(marked(value.value) as Value);
  if (!(value instanceof MapValue)) return value;
  const map = new MapValue();
  for (const [key, item] of value.entries()) map.set(key, marked(item) as Value);
  return map;
}
