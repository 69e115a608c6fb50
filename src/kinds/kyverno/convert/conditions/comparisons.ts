/** The operators Equals and NotEquals, GreaterThan and its kin, and those of durations; the meaning of texts to them: quantities, durations, versions, ranges. */
import { parseGoDuration } from "../../../../data/go/duration.js";
import { isObject } from "../../../../kubernetes/object.js";
import { type Cel, call, literal, method, plus } from "../cel-text.js";
import { DURATION, hasWildcard, isQuantity, matching } from "../pattern/scalar.js";
import type { Term } from "../term.js";
import {
  ALWAYS,
  ask,
  both,
  byKind,
  choose,
  compare,
  either,
  isBool,
  isNever,
  type Kind,
  kindsOf,
  NEVER,
  type Operand,
  opposite,
  type Test,
} from "./test.js";

type Pair = (key: Operand, value: Operand) => Test;

const KINDS = ["string", "number"] as const;

/** The test of a key and a value of every pair of types. */
function byKinds(key: Operand, value: Operand, pairs: Readonly<Partial<Record<`${Kind} ${Kind}`, Pair>>>): Test {
  const narrowed = (term: Operand, kind: "number" | "string"): Operand => ({
    ...term,
    nullable: false,
    type: term.type === "dyn" || term.type === "scalar" ? kind : term.type,
  });
  const branches = (term: Operand, make: (kind: "number" | "string") => Test) =>
    byKind(
      term,
      KINDS.map((kind) => ({ kinds: [kind], test: kindsOf(term.type).includes(kind) ? make(kind) : NEVER })),
    );
  return branches(key, (mine) =>
    branches(value, (other) => pairs[`${mine} ${other}`]?.(narrowed(key, mine), narrowed(value, other)) ?? NEVER),
  );
}

/** Whether both are equal: the key's type decides how. @param isSameField whether they are the old and the new value of a field */
export function equals(key: Operand, value: Operand, isSameField: boolean): Test {
  const known = value.constant?.value;
  // A number inside never equals: Kyverno compares its two sorts of numbers.
  if (known === null || (typeof known === "object" && hasNumber(known))) return NEVER;
  const others = kindsOf(value.type);
  const shared = kindsOf(key.type).filter((kind) => others.includes(kind));
  const same =
    typeof known === "boolean"
      ? isBool(key, known)
      : key.constant === undefined
        ? compare("==", key.cel, value.cel)
        : compare("==", value.cel, key.cel);
  // Texts are compared as such where they are neither a duration nor a quantity nor a wildcard.
  const isPlain =
    isSameField ||
    (known === undefined
      ? !value.wild && value.type !== "scalar" && key.type !== "scalar"
      : compareTexts("==", key, value).yes.text === same.yes.text);
  const more = byKinds(key, value, {
    ...(!isPlain && { "string string": (a, b) => compareTexts("==", a, b) }),
    "string number": (a, b) =>
      known === undefined && key.constant === undefined
        ? NEVER
        : both(isReadable("duration", a), compareDurations("==", a, b)),
    "number string": (a, b) => (isSameField ? NEVER : both(isReadable("number", b), equalNumbers(a, b))),
  });
  return isPlain || shared.some((kind) => kind !== "string")
    ? either(...(shared.length > 0 ? [same] : []), more)
    : more;
}

function equalNumbers(key: Operand, value: Operand): Test {
  if (value.constant === undefined) return compare("==", call("double", key.cel), call("double", value.cel));
  const number = Number(value.constant.value);
  return key.type === "int" && !Number.isInteger(number) ? NEVER : compare("==", key.cel, literal(number));
}

const hasNumber = (value: unknown): boolean =>
  isNumber(value) ||
  (Array.isArray(value) ? value.some(hasNumber) : isObject(value) && Object.values(value).some(hasNumber));
const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** A number or a text of one, as a number. */
const numeric = ({ cel, constant, type }: Operand): Cel =>
  constant !== undefined ? literal(Number(constant.value)) : type === "string" ? call("double", cel) : cel;

/** GreaterThan and its kin: numbers, quantities, durations and versions. */
export function ordered(operator: Comparison, key: Operand, value: Operand): Test {
  return byKinds(key, value, {
    "string string": (a, b) => compareTexts(operator, a, b),
    "number number": (a, b) => compare(operator, a.cel, b.cel),
    "string number": (a, b) =>
      choose(
        isReadable("duration", a),
        compareDurations(operator, a, b),
        both(isReadable("number", a), compare(operator, call("double", a.cel), numeric(b))),
      ),
    "number string": (a, b) =>
      choose(
        isReadable("duration", b),
        compareDurations(operator, a, b),
        both(isReadable("number", b), compare(operator, a.cel, numeric(b))),
      ),
  });
}

/** The old operators of durations: texts of durations, and numbers of seconds. */
export function durations(operator: Comparison, key: Operand, value: Operand): Test {
  const texts = (...operands: readonly Operand[]) => both(...operands.map((each) => isReadable("duration", each)));
  return byKinds(key, value, {
    "string string": (a, b) => both(texts(a, b), compareDurations(operator, a, b)),
    "string number": (a, b) => both(texts(a), compareDurations(operator, a, b)),
    "number string": (a, b) => both(texts(b), compareDurations(operator, a, b)),
    "number number": (a, b) => compareDurations(operator, a, b),
  });
}

/** Durations, of which numbers are whole seconds. */
function compareDurations(operator: Comparison, key: Operand, value: Operand): Test {
  const known = value.constant?.value;
  const limit = typeof known === "string" ? seconds(known) : undefined;
  const isNumeric = ["int", "number"].includes(key.type);
  if (limit !== undefined && isNumeric) return compare(operator, key.cel, literal(limit));
  return compare(operator, durationOf(key), durationOf(value));
}

function durationOf({ cel, constant, type, duration }: Term): Cel {
  if (duration !== undefined) return duration;
  if (isNumber(constant?.value)) return call("duration", literal(`${Math.trunc(Number(constant.value))}s`));
  const isText = kindsOf(type).every((kind) => kind === "string");
  return call("duration", isText ? cel : plus(call("string", call("int", cel)), literal("s")));
}

const FLOAT = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?$";
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const RANGE = /^([-|+]?\d+(?:\.\d+)?[A-Za-z]*)-([-|+]?\d+(?:\.\d+)?[A-Za-z]*)$/;

/** The seconds of Go's text of a duration, such as `1h30m`; "0" is a number. */
export function seconds(text: string): number | undefined {
  const parsed = parseGoDuration(text);
  return parsed.ok && text !== "0" ? Number(parsed.nanos) / 1e9 : undefined;
}

/** The number that a text is, as Go reads floating point numbers. */
export const numberOf = (text: string): number | undefined =>
  new RegExp(FLOAT, "i").test(text) ? Number(text) : undefined;

/** The bounds of a range such as `1-10`. */
export function rangeOf(text: string): readonly [string, string] | undefined {
  const [, low, high] = RANGE.exec(text) ?? [];
  return low === undefined || high === undefined ? undefined : [low, high];
}

/** How Go prints a JSON value: what the operators of lists compare. */
export function printed(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, each]) => `${key}:${printed(each)}`).join(" ")}]`;
}

export type Comparison = "<" | "<=" | "==" | ">" | ">=";

/** How a text is read. */
type Reading = "duration" | "number" | "quantity" | "semver";

const STATIC: Readonly<Record<Reading, (text: string) => boolean>> = {
  duration: (text) => seconds(text) !== undefined,
  number: (text) => numberOf(text) !== undefined,
  quantity: isQuantity,
  semver: (text) => VERSION.test(text),
};

/** A text, and what is known of it. */
type Text = Pick<Term, "cel" | "constant" | "duration" | "quantity"> & Partial<Pick<Term, "type">>;

/** Whether a text can be read in a way: known at once of a constant, and of what functions of times and arithmetic answer. */
export function isReadable(reading: Reading, { cel, constant, type, duration, quantity }: Text): Test {
  if (constant !== undefined) return STATIC[reading](String(constant.value)) ? ALWAYS : NEVER;
  if (type === "string" && (duration === undefined) !== (quantity === undefined))
    return reading === (duration === undefined ? "quantity" : "duration") ? ALWAYS : NEVER;
  if (reading === "quantity") return ask(call("isQuantity", cel));
  if (reading === "semver") return ask(call("isSemver", cel));
  return ask(method(cel, "matches", literal(reading === "number" ? FLOAT : DURATION)));
}

/** The comparison of two texts that are read in the same way. */
function compareRead(reading: Reading, operator: Comparison, a: Text, b: Text): Test {
  const read = (text: Text): Cel =>
    (reading === "duration" || reading === "quantity" ? text[reading] : undefined) ??
    call(reading === "number" ? "double" : reading, text.cel);
  const [left, right] = [read(a), read(b)];
  if (reading === "duration" || reading === "number" || operator === "==") return compare(operator, left, right);
  const isLess = operator === "<" || operator === ">=";
  const test = ask(method(left, isLess ? "isLessThan" : "isGreaterThan", right));
  return operator.length === 1 ? test : opposite(test);
}

/** Whether a text matches a known one with wildcards. */
export function matchesKnown(text: Cel, pattern: string): Test {
  if (/^(?:\?\*|\*\?)$/.test(pattern)) return compare("!=", text, literal(""));
  return hasWildcard(pattern) ? ask(matching(text, pattern)) : compare("==", text, literal(pattern));
}

/** Whether a text matches another one, of which only the evaluation knows whether it has wildcards. */
export function matchesText(text: Cel, pattern: Pick<Term, "cel" | "constant">): Test {
  if (pattern.constant !== undefined) return matchesKnown(text, String(pattern.constant.value));
  const replace = (target: Cel, sign: string, by: string): Cel => method(target, "replace", literal(sign), literal(by));
  const inner = replace(replace(pattern.cel, "*", "\\E.*\\Q"), "?", "\\E.\\Q");
  return ask(method(text, "matches", plus(literal("(?s)^\\Q"), inner, literal("\\E$"))));
}

/** Whether a wildcard's text could match a quantity. */
const mayMatchQuantity = (pattern: string): boolean =>
  hasWildcard(pattern) && /^[*?+\-.\d]/.test(pattern) && /^[*?+\-.\deEKMGTPinumk]*$/.test(pattern);

/** Texts that are compared: as durations, quantities or versions; equal ones by wildcards in the value, too. */
function compareTexts(operator: Comparison, key: Operand, value: Operand): Test {
  const as = (reading: Reading): Test => compareRead(reading, operator, key, value);
  const are = (reading: Reading): Test => both(isReadable(reading, key), isReadable(reading, value));
  const known = value.constant?.value;
  if (operator !== "==") {
    // A number in a text counts as seconds beside a duration, unless both are quantities.
    const isNumber = both(isReadable("number", key), isReadable("duration", value));
    const inSeconds = (): Test =>
      typeof known === "string"
        ? compare(operator, call("int", call("double", key.cel)), literal(seconds(known)))
        : compareRead("duration", operator, { cel: literal(`${Math.trunc(Number(key.constant?.value))}s`) }, value);
    const isSeconds =
      (key.constant ?? value.constant) !== undefined && !isQuantity(String(known)) && !isNever(isNumber);
    const rest = either(isSeconds ? both(isNumber, inSeconds()) : NEVER, both(are("semver"), as("semver")));
    return choose(are("duration"), as("duration"), choose(are("quantity"), as("quantity"), rest));
  }
  const match = value.wild ? matchesText(key.cel, value) : compare("==", key.cel, value.cel);
  if (key.word || value.word) return match;
  const mayBeQuantity = typeof known !== "string" || isQuantity(known) || mayMatchQuantity(known);
  return choose(
    are("duration"),
    as("duration"),
    mayBeQuantity
      ? choose(
          isReadable("quantity", key),
          both(isReadable("quantity", value), as("quantity")),
          isQuantity(String(known)) ? NEVER : match,
        )
      : match,
  );
}

/** Whether a text or number lies in a range, such as `1-10` or `1Gi-2Gi`, or outside of it. */
export function isInRange(each: Operand, [low, high]: readonly [string, string], isOutside = false): Test {
  const join = isOutside ? either : both;
  const operators = isOutside ? (["<", ">"] as const) : ([">=", "<="] as const);
  const within = (reading: Reading, text: Cel): Test =>
    STATIC[reading](low) && STATIC[reading](high)
      ? both(
          isReadable(reading, { cel: text }),
          join(
            compareRead(reading, operators[0], { cel: text }, { cel: literal(low) }),
            compareRead(reading, operators[1], { cel: text }, { cel: literal(high) }),
          ),
        )
      : NEVER;
  const numbers = [low, high].map(numberOf);
  const ofNumber = numbers.every((each) => each !== undefined)
    ? join(...numbers.map((number, i) => compare(operators[i === 0 ? 0 : 1], each.cel, literal(number))))
    : within("quantity", call("string", each.cel));
  return byKind(each, [
    { kinds: ["string"], test: either(within("duration", each.cel), within("quantity", each.cel)) },
    { kinds: ["number"], test: ofNumber },
  ]);
}
