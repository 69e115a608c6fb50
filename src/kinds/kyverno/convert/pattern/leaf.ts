/** Scalars of patterns against values that may be missing, null or lists. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables } from "../jmespath/template.js";
import type { Scope } from "../scope.js";
import { type Test, type TestFor, testOf } from "./scalar.js";
import { variableTest } from "./variable-test.js";
import { isThere, type Value } from "./walk.js";

/** What a scalar is tested for. */
export interface LeafUse {
  readonly scope: Scope;
  readonly exact: boolean;
  /** Whether a missing value passes; else it counts as null. */
  readonly missing?: "passes" | undefined;
  /** Whether the value is an item of a list: a list in a list fails. */
  readonly isItem?: boolean;
}

/** Whether a value passes a scalar of a pattern; of a list every item must. */
export function leafHolds(pattern: unknown, value: Value, use: LeafUse): Cel {
  const { shape } = value;
  const type = shape?.type;
  if (type === "map") return use.missing === "passes" ? cel.not(isThere(value)) : cel.FALSE;
  if (type === "list") {
    const item = { plain: cel.primary("item"), shape: shape?.items, path: value.path };
    const every = cel.loop(
      value.plain,
      "all",
      "item",
      leafHolds(pattern, item, { ...use, missing: undefined, isItem: true }),
    );
    return isAbsentFine(testFor(pattern, { type, exact: true }, use.scope), use)
      ? cel.or(cel.not(isThere(value)), every)
      : cel.and(isThere(value), every);
  }
  if (type === undefined && use.isItem !== true) {
    const item = { plain: cel.primary("v"), shape: undefined, path: value.path };
    const { nullPasses, failing = cel.NULL } = testFor(pattern, { type, exact: use.exact }, use.scope);
    const otherwise = nullPasses ? cel.NULL : failing;
    const whole = cel.list([value.optional === undefined ? value.plain : cel.orValue(value.optional, otherwise)]);
    const every = (list: Cel): Cel => {
      const test = leafHolds(pattern, item, { ...use, isItem: true });
      const flat = cel.method(list, "flatten");
      // The type of items is known to be one only, as far as CEL sees: it must not choose a function by it.
      const isOnce = /^v (==|in) |^v\.\w+\("[^"]*"\)$/.test(test.text) && !/[|&]{2}/.test(test.text);
      return cel.loop(isOnce ? flat : cel.call("dyn", flat), "all", "v", test);
    };
    if (use.missing === "passes" && value.optional !== undefined)
      return cel.or(cel.not(isThere(value)), every(cel.list([value.plain])));
    return every(whole);
  }
  const test = testFor(pattern, { type, exact: use.exact }, use.scope);
  const { plain, optional } = value;
  if (optional === undefined)
    return type === undefined && test.nullPasses ? cel.or(cel.equal(plain, cel.NULL), test.of(plain)) : test.of(plain);
  // A value of a known type is there or missing, and never null.
  const isFine = isAbsentFine(test, use);
  const otherwise = isFine ? test.passing : test.failing;
  if (otherwise !== undefined && test.isRepeated !== true) return test.of(cel.orValue(optional, otherwise));
  const there = isThere(value);
  return isFine ? cel.or(cel.not(there), test.of(plain)) : cel.and(there, test.of(plain));
}

const testFor = (pattern: unknown, use: TestFor, scope: Scope): Test =>
  typeof pattern === "string" && (hasVariables(pattern) || pattern.includes("$("))
    ? variableTest(pattern, use, scope)
    : testOf(pattern, use);

const isAbsentFine = (test: Test, { missing }: LeafUse): boolean => missing === "passes" || test.nullPasses;
