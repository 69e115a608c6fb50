/** Scalars of patterns against values that may be missing, null or lists. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables } from "../jmespath/template.js";
import type { Scope } from "../scope.js";
import { type Test, type TestFor, testOf } from "./scalar.js";
import type { Shape } from "./shape.js";
import { variableTest } from "./variable-test.js";

/** A value that a pattern looks at. */
export interface Value {
  /** An error where the value is missing. */
  readonly plain: Cel;
  /** The value as an optional one; absent where the value is always there. */
  readonly optional?: Cel;
  /** Whether it is there; absent where it always is. */
  readonly presence?: Cel;
  /** The schemas' word on it: then it is never null. */
  readonly shape: Shape | undefined;
  /** Its place in messages: keys, and lists whose index is meant. */
  readonly path: readonly string[];
}

/** Whether a value is there: it may be null. */
export const isThere = ({ presence }: Value): Cel => presence ?? cel.TRUE;

/** The purpose of a scalar's test. */
export interface LeafUse {
  readonly scope: Scope;
  readonly exact: boolean;
  /** Whether a missing value passes or fails; else it counts as null. */
  readonly missing?: "fails" | "passes" | undefined;
  /** Whether the value is an item of a list: a list in a list fails. */
  readonly isItem?: boolean;
}

/** Whether a value passes a scalar of a pattern; of a list every item must. */
export function leafHolds(pattern: unknown, value: Value, use: LeafUse): Cel {
  const { shape } = value;
  const type = shape?.type;
  const there = isThere(value);
  const inner = { ...use, missing: undefined, isItem: true };
  if (type === "map") return use.missing === "passes" ? cel.not(there) : cel.FALSE;
  if (type === "list") {
    const item = { plain: cel.primary("item"), shape: shape?.items, path: value.path };
    const every = cel.loop(value.plain, "all", "item", leafHolds(pattern, item, inner));
    const isFine = isAbsentFine(testFor(pattern, { type, exact: true }, use.scope), use);
    return isFine ? cel.or(cel.not(there), every) : cel.and(there, every);
  }
  if (type === undefined && use.isItem !== true) {
    const { nullPasses, failing = cel.NULL } = testFor(pattern, { type, exact: use.exact }, use.scope);
    const isSkipped = use.missing === "passes" && value.optional !== undefined;
    const otherwise = nullPasses ? cel.NULL : failing;
    const isPlain = isSkipped || value.optional === undefined;
    const whole = cel.list([isPlain ? value.plain : cel.orValue(value.optional ?? value.plain, otherwise)]);
    const test = leafHolds(pattern, { plain: cel.primary("v"), shape: undefined, path: value.path }, inner);
    // The type of items is known to be one only, as far as CEL sees: it must not choose a function by it.
    const isOnce = /^v (==|in) |^v\.\w+\("[^"]*"\)$/.test(test.text) && !/[|&]{2}/.test(test.text);
    const flat = cel.method(whole, "flatten");
    return cel.or(
      isSkipped ? cel.not(there) : cel.FALSE,
      cel.loop(isOnce ? flat : cel.call("dyn", flat), "all", "v", test),
    );
  }
  const test = testFor(pattern, { type, exact: use.exact }, use.scope);
  const { plain, optional } = value;
  if (optional === undefined)
    return type === undefined && test.nullPasses ? cel.or(cel.equal(plain, cel.NULL), test.of(plain)) : test.of(plain);
  // A value of a known type is there or missing, and never null.
  const isFine = isAbsentFine(test, use);
  const otherwise = isFine ? test.passing : test.failing;
  if (otherwise !== undefined && test.isRepeated !== true) return test.of(cel.orValue(optional, otherwise));
  return isFine ? cel.or(cel.not(there), test.of(plain)) : cel.and(there, test.of(plain));
}

const testFor = (pattern: unknown, use: TestFor, scope: Scope): Test =>
  typeof pattern === "string" && (hasVariables(pattern) || pattern.includes("$("))
    ? variableTest(pattern, use, scope)
    : testOf(pattern, use);

const isAbsentFine = (test: Test, { missing }: LeafUse): boolean =>
  missing === "passes" || (missing !== "fails" && test.nullPasses);
