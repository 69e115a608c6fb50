/** The operators Equals and NotEquals, GreaterThan and its kin, and those of durations. */
import { isObject } from "../../../../kubernetes/object.js";
import { type Cel, call, literal, primary, quoted } from "../cel-text.js";
import type { Term } from "../term.js";
import type { Operand } from "./membership.js";
import {
  type Branch,
  both,
  byKind,
  choose,
  compare,
  either,
  isKind,
  kindsOf,
  NEVER,
  never,
  type Test,
} from "./test.js";
import {
  type Comparison,
  compareDurations,
  compareQuantities,
  compareVersions,
  equalsText,
  equalTexts,
  isDurationText,
  isInteger,
  isNumberText,
  isQuantity,
  isQuantityText,
  isVersion,
  isVersionText,
  matchesText,
  numberOf,
  seconds,
} from "./texts.js";

const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** A number of seconds as CEL's text of a duration. */
const durationOf = (value: number | bigint): Cel => literal(`${BigInt(Math.trunc(Number(value)))}s`);

const asString = (value: Cel): Cel => call("string", value);

/** Whether both are equal: the key's type decides how. */
export function equals(key: Operand, value: Operand): Test {
  return value.constant === undefined ? equalsTerm(key, value) : equalsConstant(key, value.constant.value);
}

function equalsConstant(key: Term, value: unknown): Test {
  const known = literal(value);
  const same = compare("==", key.cel, known);
  if (typeof value === "boolean") return byKind(key, [{ kinds: ["bool"], test: same, total: true }]);
  if (isNumber(value))
    return byKind(key, [
      { kinds: ["number"], test: same, total: true },
      {
        kinds: ["string"],
        test: both(isDurationText(key.cel), compareDurations("==", key.cel, durationOf(value))),
      },
    ]);
  if (typeof value === "string") {
    const number = isInteger(value) || key.type !== "int" ? numberOf(value) : undefined;
    const strings: Branch = { kinds: ["string"], test: equalsText(key.cel, value) };
    return byKind(key, [
      { ...strings, total: strings.test.yes.text === compare("==", key.cel, known).yes.text },
      ...(number === undefined
        ? []
        : [{ kinds: ["number"], test: compare("==", key.cel, literal(number)), total: true } as const]),
    ]);
  }
  // A number inside never equals: Kyverno compares its two sorts of numbers.
  if (Array.isArray(value) || isObject(value))
    return hasNumber(value)
      ? never(key)
      : byKind(key, [{ kinds: [Array.isArray(value) ? "list" : "map"], test: same, total: true }]);
  return never(key);
}

const hasNumber = (value: unknown): boolean =>
  isNumber(value) ||
  (Array.isArray(value) ? value.some(hasNumber) : isObject(value) && Object.values(value).some(hasNumber));

/** Equality with a value that only the evaluation knows. */
function equalsTerm(key: Operand, value: Operand): Test {
  const others = kindsOf(value.type);
  const same = compare("==", key.cel, value.cel);
  const isText = isKind(value.cel, ["string"], others, value.nullable);
  // The value may be a pattern, or another text of the same quantity or duration.
  const texts = value.wild ? textsEqual(key, value) : same;
  return byKind(key, [
    { kinds: ["bool", "list", "map"], test: same, total: true },
    others.includes("string") && value.wild
      ? { kinds: ["string"], test: both(isText, texts) }
      : { kinds: ["string"], test: same, total: true },
    others.includes("string") && kindsOf(key.type).length === 1
      ? { kinds: ["number"], test: choose(isText, compare("==", asString(key.cel), value.cel), same) }
      : { kinds: ["number"], test: same, total: true },
  ]);
}

function textsEqual(key: Operand, value: Operand): Test {
  const known = key.constant?.value;
  if (typeof known !== "string") return equalTexts(key.cel, value.cel);
  const { cel } = value;
  const quantity = both(isQuantityText(cel), compareQuantities("==", cel, key.cel));
  if (seconds(known) !== undefined)
    return choose(
      isDurationText(cel),
      compareDurations("==", cel, key.cel),
      isQuantity(known) ? quantity : matchesText(key.cel, cel),
    );
  return isQuantity(known) ? quantity : matchesText(key.cel, cel);
}

/** GreaterThan and its kin: numbers, quantities, durations and versions. */
export function ordered(operator: Comparison, key: Term, value: Term): Test {
  if (key.constant !== undefined && value.constant === undefined) {
    const turned = { "<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==" } as const;
    const fixed = key.constant.value;
    if (isNumber(fixed) || typeof fixed === "string") return orderedConstant(turned[operator], value, fixed);
    return never(value);
  }
  return value.constant === undefined
    ? orderedTerms(operator, key, value)
    : orderedConstant(operator, key, value.constant.value);
}

function orderedConstant(operator: Comparison, key: Term, value: unknown): Test {
  const { cel } = key;
  const known = literal(value);
  const whole = call("int", cel);
  const byNumber = (number: Cel, limit: number | bigint): Test =>
    compare(operator, number, literal(number === cel ? limit : Number(limit)));
  const number = call("double", cel);
  if (isNumber(value))
    return byKind(key, [
      { kinds: ["number"], test: byNumber(cel, value) },
      {
        kinds: ["string"],
        test: choose(
          isDurationText(cel),
          compareDurations(operator, cel, durationOf(value)),
          both(isNumberText(cel), compare(operator, number, double(value))),
        ),
      },
    ]);
  if (typeof value !== "string") return never(key);
  const length = seconds(value);
  const limit = numberOf(value);
  const quantities = isQuantity(value)
    ? both(isQuantityText(cel), compareQuantities(operator, cel, known))
    : length === undefined
      ? NEVER
      : both(isNumberText(cel), compare(operator, call("int", number), literal(length)));
  if (length !== undefined)
    return byKind(key, [
      { kinds: ["string"], test: choose(isDurationText(cel), compareDurations(operator, cel, known), quantities) },
      { kinds: ["number"], test: compare(operator, key.type === "int" ? cel : whole, literal(length)) },
    ]);
  if (isVersion(value))
    return byKind(key, [{ kinds: ["string"], test: both(isVersionText(cel), compareVersions(operator, cel, known)) }]);
  const test = byKind(key, [
    { kinds: ["string"], test: quantities },
    ...(limit === undefined ? [] : [{ kinds: ["number"], test: byNumber(cel, limit) } as const]),
  ]);
  return test.yes.text === "false" ? never(key) : test;
}

const double = (value: number | bigint): Cel => {
  const text = String(Number(value));
  return primary(/[.e]/.test(text) ? text : `${text}.0`);
};

function orderedTerms(operator: Comparison, key: Term, value: Term): Test {
  const numbers = (term: Term) => kindsOf(term.type).every((kind) => kind === "number") && !term.nullable;
  if (numbers(key) && numbers(value)) return compare(operator, key.cel, value.cel);
  const strings = (term: Term) => kindsOf(term.type).every((kind) => kind === "string") && !term.nullable;
  const scalar = (term: Term): Test =>
    numbers(term) || strings(term)
      ? { yes: literal(true), no: literal(false) }
      : isKind(term.cel, ["string", "number"]);
  const [a, b] = [key, value].map((term) => (strings(term) ? term.cel : asString(term.cel))) as [Cel, Cel];
  return both(
    scalar(key),
    scalar(value),
    choose(
      both(isDurationText(a), isDurationText(b)),
      compareDurations(operator, a, b),
      either(
        both(isQuantityText(a), isQuantityText(b), compareQuantities(operator, a, b)),
        both(isVersionText(a), isVersionText(b), compareVersions(operator, a, b)),
      ),
    ),
  );
}

/** The old operators of durations: texts of durations, and numbers of seconds. */
export function durations(operator: Comparison, key: Term, value: Term): Test {
  const [a, b] = [key, value].map((term) => durationSide(term));
  if (a === undefined || b === undefined) return never(key);
  return both(a.is, b.is, compare(operator, a.cel, b.cel));
}

/** A side of a comparison of durations, and whether it is one. */
function durationSide(term: Term): { readonly is: Test; readonly cel: Cel } | undefined {
  const always: Test = { yes: literal(true), no: literal(false) };
  if (term.constant !== undefined) {
    const { value } = term.constant;
    if (isNumber(value)) return { is: always, cel: call("duration", durationOf(value)) };
    if (typeof value === "string" && (seconds(value) !== undefined || value === "0"))
      return { is: always, cel: call("duration", literal(value === "0" ? "0s" : value)) };
    return undefined;
  }
  const text = primary(`string(int(${term.cel.text})) + ${quoted("s")}`);
  if (kindsOf(term.type).every((kind) => kind === "number")) return { is: always, cel: call("duration", text) };
  if (term.type === "string" && !term.nullable)
    return { is: isDurationText(term.cel), cel: call("duration", term.cel) };
  const isText = both(isKind(term.cel, ["string"]), isDurationText(term.cel));
  return {
    is: either(isText, isKind(term.cel, ["number"])),
    cel: call("duration", primary(`type(${term.cel.text}) == string ? ${term.cel.text} : ${text.text}`)),
  };
}
