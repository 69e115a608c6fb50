/** The operators AnyIn, AllIn, AnyNotIn and AllNotIn, and the older In and NotIn. */
import { parseJson } from "../../../../data/json.js";
import { isObject } from "../../../../kubernetes/object.js";
import { type Cel, call, conditional, item, list, literal, method, primary, relation } from "../cel-text.js";
import { constant } from "../jmespath/value.js";
import { NotConverted } from "../not-converted.js";
import { hasWildcard } from "../pattern/scalar.js";
import { isInRange, matchesKnown, matchesText, numberOf, printed, rangeOf } from "./comparisons.js";
import {
  ALWAYS,
  ask,
  type Branch,
  both,
  byKind,
  choose,
  compare,
  either,
  every,
  isBool,
  isKind,
  NEVER,
  type Operand,
  opposite,
  SCALARS,
  some,
  type Test,
  unlessNull,
} from "./test.js";

/** Whether an item is one of the values. */
type IsIn = (item: Operand) => Test;

/** The lookups of a single key, and of an item of a list or the list as a whole. Absent: it is never among the values, nor not. */
interface Lookups {
  readonly scalar?: IsIn;
  readonly items?: IsIn | { readonly whole: Test };
}

/** Whether items of the key are among the values: any or all of them, or the opposite. */
export function among(operator: string, key: Operand, value: Operand, loopName: string): Test {
  const { scalar, items } = /^(?:Not)?In$/.test(operator)
    ? oldLookups(operator, key, value)
    : lookups(key, value, operator, loopName);
  // In an empty list nothing is or is not among the values, as in one that is missing.
  const isEmptied = operator.startsWith("Any") && key.orEmpty !== undefined && !key.fails;
  const list = isEmptied ? { ...key, cel: key.orEmpty, nullable: false } : key;
  const turned = (test: Test) => (operator.endsWith("NotIn") ? opposite(test) : test);
  const unknown = { type: "dyn", nullable: true, fails: false } as const;
  const inner: Operand = { ...unknown, ...key.items, cel: primary(loopName), wild: key.wild };
  const loop = /^(?:All|In)/.test(operator) ? every : some;
  const known = key.constant?.value;
  const ofItems = (isIn: IsIn): Test => {
    if (!Array.isArray(known)) return loop(list.cel, loopName, turned(isIn(inner)));
    const tests = known.map((each: unknown) => turned(isIn(constantOperand(each))));
    return loop === every ? both(...tests) : either(...tests);
  };
  const branches: Branch[] = [];
  if (items !== undefined)
    branches.push({ kinds: ["list"], test: typeof items === "function" ? ofItems(items) : turned(items.whole) });
  if (scalar !== undefined) branches.push({ kinds: SCALARS, test: turned(scalar({ ...key, nullable: false })) });
  const test = byKind(list, branches);
  if (value.constant !== undefined) return test;
  // Only lists and texts are values.
  return value.type === "dyn" ? both(isKind(value.cel, ["list", "string"]), test) : unlessNull(value, test);
}

const constantOperand = (value: unknown): Operand => ({ ...constant(value), wild: hasWildcard(printed(value)) });

/** In and NotIn: with a list of texts alone, as a text means something of its own there. */
function oldLookups(operator: string, key: Operand, value: Operand): Lookups {
  const texts = value.constant?.value;
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string") || key.type === "list")
    throw new NotConverted(
      ["operator"],
      `${operator} differs from Any${operator} here: write Any${operator} or All${operator}, whichever is meant`,
    );
  return {
    scalar: (each) => inTexts(each, texts),
    items: (each) => inTexts({ ...each, wild: false }, texts, true),
  };
}

function lookups(key: Operand, value: Operand, operator: string, loopName: string): Lookups {
  if (value.constant === undefined) {
    const items: IsIn = (each) => inList(each, value, listOf(value), `${loopName}v`);
    return { scalar: (each) => scalarIn(each, value, `${loopName}v`), items };
  }
  const known = value.constant.value;
  if (typeof known === "string") return inText(key, known, operator);
  if (Array.isArray(known)) {
    const isIn: IsIn = (each) => inTexts(each, known.map(printed));
    return { scalar: isIn, items: isIn };
  }
  if (known === null || isObject(known) || operator.startsWith("All")) return {};
  return { items: (each) => inTexts(each, [printed(known)]) };
}

/** The lookups in a text: one value with wildcards, a range, or a list as JSON. */
function inText(key: Operand, known: string, operator: string): Lookups {
  const exactly: IsIn = (each) => inTexts({ ...each, wild: false }, [known], true);
  const range = rangeOf(known);
  if (range !== undefined) {
    const isIn: IsIn = (each) => isInRange(each, range);
    // AnyNotIn turns a list's range round: what is not a number is not outside, and a range that begins with a sign is a text.
    const isNotOutside: IsIn = (each) => (/^[-+]/.test(known) ? exactly(each) : opposite(isInRange(each, range, true)));
    return { scalar: isIn, items: operator === "AnyNotIn" ? isNotOutside : isIn };
  }
  const one: IsIn = (each) => inTexts({ ...each, wild: false }, [known]);
  const parsed = parsedTexts(known);
  if (parsed === undefined) return { scalar: one, items: (each) => inTexts(each, [known]) };
  // JSON that is not a list of texts is an invalid value: only the same text is found, and nothing is "not in" it.
  if (parsed === null) {
    const first: Operand = { ...key, cel: item(key.cel, 0), type: "dyn" };
    const whole = both(compare("==", call("size", key.cel), literal(1)), exactly(first));
    return operator.endsWith("NotIn") ? {} : { scalar: one, items: { whole } };
  }
  return {
    scalar: (each) => either(one(each), inTexts({ ...each, wild: false }, parsed, true)),
    items: (each) => inTexts(each, parsed),
  };
}

/** The texts of a list as JSON; null: other JSON; undefined: a text. */
function parsedTexts(text: string): readonly string[] | null | undefined {
  try {
    const value: unknown = parseJson(text);
    if (value === null) return [];
    return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
  } catch {
    return undefined;
  }
}

/** Whether an item is printed as one of the texts. @param exact whether wildcards in the texts are plain characters */
function inTexts(each: Operand, texts: readonly string[], exact = false): Test {
  const plain = texts.filter((text) => exact || !hasWildcard(text));
  const patterns = texts.filter((text) => !exact && hasWildcard(text));
  if (patterns.some((text) => /^\*+$/.test(text))) return ALWAYS;
  const matches = (text: Cel) => either(...patterns.map((pattern) => matchesKnown(text, pattern)));
  // A key with wildcards finds all texts that it matches.
  const isWild = each.wild && !exact && texts.length > 0;
  const total = patterns.length === 0;
  const found = isWild ? foundBy(each, texts) : isOneOf(each.cel, plain);
  const strings: Branch = { kinds: ["string"], test: either(found, matches(each.cel)), total: total && !isWild };
  const mayBePrinted = patterns.some((text) => /^[*?\d.e+\-trufals]*$/.test(text));
  const printedOnes = mayBePrinted ? matches(call("string", each.cel)) : NEVER;
  const numbers = plain.filter((text) => numberOf(text) !== undefined && printed(Number(text)) === text);
  const bools = [true, false].filter((known) => plain.includes(printed(known))).map((known) => isBool(each, known));
  return byKind(each, [
    strings,
    { kinds: ["number"], test: either(isOneOf(each.cel, numbers.map(Number)), printedOnes), total },
    { kinds: ["bool"], test: either(...bools, printedOnes), total },
  ]);
}

/** Whether a key with wildcards matches one of the texts. */
const foundBy = (key: Operand, texts: readonly string[]): Test =>
  texts.length === 1
    ? matchesText(literal(texts[0]), key)
    : some(literal(texts), "text", matchesText(primary("text"), key));

function isOneOf(each: Cel, values: readonly (number | string)[]): Test {
  if (values.length === 0) return NEVER;
  if (values.length === 1) return compare("==", each, literal(values[0]));
  const mixed = values.some((value) => typeof value === "number" && !Number.isInteger(value));
  const known = mixed ? list(values.map((value) => primary(Number(value).toFixed(1)))) : literal(values);
  return ask(relation("in", each, known));
}

/** A single value among values that only the evaluation knows: a text is matched by a value that is a text, not the other way round. */
function scalarIn(each: Operand, value: Operand, name: string): Test {
  const isText = value.type === "string";
  if (isText && !value.wild) return each.wild ? matchesText(each.cel, value) : sameTexts(each, value);
  const ofList = inList(each, value, value.cel, name);
  if (value.type === "list") return ofList;
  const parsed = ask(relation("in", textOf(each), method(primary("json"), "unmarshal", value.cel)));
  const ofText = choose(ask(method(value.cel, "startsWith", literal("["))), parsed, matchesText(textOf(each), value));
  return isText ? ofText : choose(isKind(value.cel, ["list"]), ofList, ofText);
}

const sameTexts = (each: Operand, value: Operand): Test =>
  each.constant === undefined ? compare("==", each.cel, value.cel) : compare("==", value.cel, each.cel);

const textOf = ({ cel, type, nullable }: Operand): Cel => (type === "string" && !nullable ? cel : call("string", cel));

/** Whether an item is in a list that only the evaluation knows. */
function inList(each: Operand, value: Operand, values: Cel, name: string): Test {
  if (!value.wild && value.type === "string") return each.wild ? matchesText(value.cel, each) : sameTexts(each, value);
  const isScalars = value.items?.type === "bool" || value.items?.type === "number";
  if (!each.wild && (!value.wild || isScalars)) return ask(relation("in", each.cel, values));
  const inner = textOf({ ...value, type: value.items?.type ?? "dyn", nullable: false, cel: primary(name) });
  const known = each.constant?.value;
  const item: Operand = { cel: inner, type: "string", nullable: false, fails: false, wild: false };
  const byKey = known === undefined ? matchesText(inner, { cel: textOf(each) }) : inTexts(item, [printed(known)]);
  return some(
    values,
    name,
    either(...(value.wild ? [matchesText(textOf(each), { cel: inner })] : []), ...(each.wild ? [byKey] : [])),
  );
}

/** The values as a list: a text may be a list as JSON, as in the data of a ConfigMap. */
function listOf({ cel, type }: Operand): Cel {
  if (type === "list") return cel;
  const isJson = method(cel, "startsWith", literal("["));
  const ofText = conditional(isJson, method(primary("json"), "unmarshal", cel), list([cel]));
  return type === "string" ? ofText : conditional(isKind(cel, ["list"]).yes, cel, ofText);
}
