/** The operators Equals and NotEquals, GreaterThan and its kin, and those of durations. */
import { isObject } from "../../../../kubernetes/object.js";
import { type Cel, call, literal, plus } from "../cel-text.js";
import type { Term } from "../term.js";
import { both, byKind, choose, compare, either, isBool, type Kind, kindsOf, NEVER, type Operand, type Test } from "./test.js";
import { type Comparison, compareTexts, isReadable, seconds } from "./texts.js";

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
