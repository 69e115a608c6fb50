/** Scalars of patterns against values that may be missing, null or lists. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables, template } from "../jmespath/template.js";
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { type Comparison, quantityTest, type Test, type TestFor, testOf } from "./scalar.js";
import type { Shape } from "./shape.js";

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

const VARIABLE = /\{\{(?:[^{}]|\{[^{}]*\})*\}\}/g;
/** Roots of values that are names, texts of objects or amounts; what others hold may be a pattern of its own. */
const PLAIN = /^\{\{-?\s*(request|element\d*|elementIndex\d*|serviceAccountName|serviceAccountNamespace)\b/;

/**
 * The test of a text with variables. Their values are compared as they are: Kyverno, which reads the text after it put the values in, would also take operators and
 * wildcards from them.
 */
function variableTest(text: string, use: TestFor, scope: Scope): Test {
  const whole = template(text, scope);
  if (whole.constant !== undefined) return testOf(whole.constant.value, use);
  const [, operator = "", rest = ""] = /^(>=|<=|>|<|!)?\s*(.*)$/s.exec(text.trim()) ?? [];
  const words = rest.replaceAll(VARIABLE, "");
  const isPure = words.trim() === "";
  const [, left = "", right = ""] = /^(\**)[^*?|&]*?(\**)$/.exec(words) ?? ["", "?"];
  const isPlain = (text.match(VARIABLE) ?? []).every((variable) => PLAIN.test(variable));
  const isRange = /^[-+\d.A-Za-z]*!?-[-+\d.A-Za-z]*$/.test(words) && (rest.match(VARIABLE) ?? []).length > 1;
  if (!isPlain || isRange || left === "?" || (left !== "" && right !== "") || ["map", "list"].includes(whole.type))
    throw new NotConverted([], "what this variable holds may be a pattern of its own: write the condition in CEL");
  const term = template(rest.slice(left.length, rest.length - right.length), scope);
  const wanted = isPure && term.type !== "string" && use.type !== "string" ? cel.call("string", term.cel) : term.cel;
  const { type } = use;
  if (whole.type === "bool") return { of: (value) => cel.equal(value, term.cel), nullPasses: false };
  const asText = (value: Cel): Cel => (type === "string" ? value : cel.call("string", value));
  if (operator !== "" && operator !== "!") {
    const of = (value: Cel): Cel => {
      if (type === "number" && whole.type === "int") return cel.relation(operator as Comparison, value, term.cel);
      return quantityTest(asText(value), operator as Comparison, wanted);
    };
    return { of, nullPasses: false, failing: cel.literal(type === "string" ? "0" : 0) };
  }
  const test = (value: Cel): Cel => {
    if (right !== "") return cel.method(asText(value), "startsWith", wanted);
    if (left !== "") return cel.method(asText(value), "endsWith", wanted);
    if (!isPure || type === "string") return cel.equal(value, term.cel);
    if (type === "quantity") return quantityTest(asText(value), "==", wanted);
    if (type !== undefined) return cel.equal(asText(value), wanted);
    const amounts = [cel.call("isQuantity", asText(value)), cel.call("isQuantity", wanted)];
    return cel.or(cel.equal(value, term.cel), cel.and(...amounts, quantityTest(asText(value), "==", wanted)));
  };
  if (operator === "") return { of: test, nullPasses: false };
  // A wildcard in the variable's value would match more texts, and so refuse more.
  const isLiteral = cel.not(cel.method(wanted, "matches", cel.literal("[*?|&]")));
  return { of: (value) => cel.and(isLiteral, cel.not(test(value))), nullPasses: false };
}
