/** The operators AnyIn, AllIn, AnyNotIn and AllNotIn, and the older In and NotIn. */
import { isObject } from "../../../../kubernetes/object.js";
import { type Cel, call, conditional, item, list, literal, method, primary, relation } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { Term } from "../term.js";
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
  isKind,
  type Kind,
  kindsOf,
  opposite,
  some,
  type Test,
  unlessNull,
} from "./test.js";
import { hasWildcard, isInRange, matchesKnown, matchesText, numberOf, printed, rangeOf } from "./texts.js";

/** A value of which it is known where it comes from. */
export interface Operand extends Term {
  /** Whether it, or its items, may have wildcards: a name of Kubernetes has none. */
  readonly wild: boolean;
  /** Whether it is a text that is neither a quantity nor a duration, such as a name. */
  readonly word?: boolean;
  /** Whether it is there, where its condition does not hold otherwise. */
  readonly presence?: Test;
  /** The query, of a text that is one variable only. */
  readonly path?: string;
}

/** Whether an item is one of the values. */
type IsIn = (item: Operand) => Test;

const SCALARS: readonly Kind[] = ["string", "number", "bool"];

/** Whether items of the key are among the values: any or all of them, or the opposite. */
export function among(operator: string, key: Operand, value: Operand, loopName: string): Test {
  if (isOld(operator) && kindsOf(key.type).every((kind) => kind === "list"))
    throw new NotConverted(
      ["operator"],
      `${operator} compares a list in a way of its own: write ${operator === "In" ? "AnyIn or AllIn" : "AnyNotIn or AllNotIn"}`,
    );
  const isNegative = operator.endsWith("NotIn") || operator === "NotIn";
  const ofAll = operator === "AllIn" || operator === "AllNotIn" || operator === "In";
  const { scalar, items } = lookups(key, value, operator, loopName);
  // Of a list that is missing nothing is among the values, and nothing is not.
  const list =
    operator.startsWith("Any") && key.orEmpty !== undefined && !key.fails
      ? { ...key, cel: key.orEmpty, nullable: false }
      : key;
  const turned = (test: Test) => (isNegative ? opposite(test) : test);
  const inner: Operand = {
    cel: primary(loopName),
    type: "dyn",
    nullable: true,
    fails: false,
    ...key.items,
    wild: key.wild,
  };
  const loop = ofAll ? every : some;
  const branches: Branch[] = [];
  if (items !== undefined)
    branches.push({
      kinds: ["list"],
      test: typeof items === "function" ? loop(list.cel, loopName, turned(items(inner))) : turned(items.whole),
    });
  if (scalar !== undefined) {
    const test = scalar({ ...key, nullable: false });
    branches.push({ kinds: SCALARS, test: turned(test) });
  }
  const test = byKind(list, branches);
  return ofListOrText(value, test);
}

/** The test, where a value that only the evaluation knows is a list or a text. */
const ofListOrText = (value: Operand, test: Test): Test =>
  value.constant !== undefined
    ? test
    : value.type === "dyn"
      ? both(isKind(value.cel, ["list", "string"]), test)
      : unlessNull(value, test);

const isOld = (operator: string): boolean => operator === "In" || operator === "NotIn";

interface Lookups {
  readonly scalar?: IsIn;
  /** By item of a list, or for the list as a whole. */
  readonly items?: IsIn | { readonly whole: Test };
}

function lookups(key: Operand, value: Operand, operator: string, loopName: string): Lookups {
  if (value.constant === undefined) {
    const items: IsIn = (each) => inList(each, value, listOf(value), `${loopName}v`);
    return { scalar: (each) => scalarIn(each, value, `${loopName}v`), items };
  }
  const known = value.constant.value;
  if (Array.isArray(known)) {
    const isIn: IsIn = (each) => inTexts(each, known.map(printed));
    if (!isOld(operator)) return { scalar: isIn, items: isIn };
    return known.every((each) => typeof each === "string")
      ? { scalar: isIn, items: (each) => inTexts({ ...each, wild: false }, known, true) }
      : { scalar: isIn };
  }
  if (typeof known === "string") return inText(key, known, operator);
  if (known === null || isObject(known) || operator.startsWith("All") || !operator.startsWith("Any")) return {};
  return { items: (each) => inTexts(each, [printed(known)]) };
}

/** The lookups in a text: one value with wildcards, a range, or a list as JSON. */
function inText(key: Operand, known: string, operator: string): Lookups {
  const range = rangeOf(known);
  if (range !== undefined && !isOld(operator)) {
    const isIn: IsIn = (each) => isInRange(each, range);
    // AnyNotIn turns a list's range round: what is no number is not outside, and a range that begins below zero is a text.
    const isNotOutside: IsIn = (each) =>
      /^[-+]/.test(known) ? inTexts({ ...each, wild: false }, [known], true) : opposite(isInRange(each, range, true));
    return { scalar: isIn, items: operator === "AnyNotIn" ? isNotOutside : isIn };
  }
  const one: IsIn = (each) => inTexts({ ...each, wild: false }, [known]);
  const first: Operand = { ...key, cel: item(key.cel, 0), type: "dyn", wild: false };
  const isOne = both(compare("==", call("size", key.cel), literal(1)), inTexts(first, [known], true));
  const parsed = parsedTexts(known);
  // The old operators know only lists as JSON; NotIn answers yes, too, where the only item is the text itself.
  if (parsed === undefined && isOld(operator))
    return operator === "In" ? { scalar: one, items: { whole: isOne } } : { items: { whole: opposite(isOne) } };
  if (parsed === undefined) return { scalar: one, items: (each) => inTexts(each, [known]) };
  // JSON that is not a list of texts is no valid value: only the same text is found, and nothing is "not in" it.
  if (parsed === null) return operator.endsWith("NotIn") ? {} : { scalar: one, items: { whole: isOne } };
  return {
    scalar: (each) => either(one(each), inTexts({ ...each, wild: false }, parsed, true)),
    items: (each) => inTexts(each, parsed),
  };
}

/** The texts of a list as JSON; null: other JSON; undefined: a text. */
function parsedTexts(text: string): readonly string[] | null | undefined {
  try {
    const value: unknown = JSON.parse(text);
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
  const branches: Branch[] = [];
  // A key with wildcards finds patterns, too.
  if (each.wild && !exact) {
    const test =
      texts.length === 1
        ? matchesText(literal(texts[0]), each)
        : some(literal(texts), "v", matchesText(primary("v"), each));
    branches.push({ kinds: ["string"], test });
  } else if (plain.length > 0) branches.push({ kinds: ["string"], test: isOneOf(each.cel, plain), total: true });
  if (plain.length > 0) {
    const numbers = plain.filter((text) => numberOf(text) !== undefined && printed(Number(text)) === text);
    if (numbers.length > 0)
      branches.push({ kinds: ["number"], test: isOneOf(each.cel, numbers.map(Number)), total: true });
    for (const known of [true, false])
      if (plain.includes(printed(known)))
        branches.push({ kinds: ["bool"], test: compare("==", each.cel, literal(known)), total: true });
  }
  if (patterns.length > 0) {
    const match = (text: Cel) => either(...patterns.map((pattern) => matchesKnown(text, pattern)));
    branches.push({ kinds: ["string"], test: match(each.cel) });
    if (patterns.some((text) => /^[*?\d.e+\-trufals]*$/.test(text)))
      branches.push({ kinds: ["number", "bool"], test: match(call("string", each.cel)) });
  }
  return joined(each, branches);
}

/** The branches, of which several may be about the same types. */
function joined(each: Operand, branches: readonly Branch[]): Test {
  const guarded = branches.filter((branch) => !branch.total);
  const merged: Branch[] = branches.filter((branch) => branch.total);
  for (const branch of guarded) {
    const key = branch.kinds.join();
    const at = merged.findIndex(({ kinds, total }) => !total && kinds.join() === key);
    const known = merged[at];
    if (known === undefined) merged.push(branch);
    else merged[at] = { ...known, test: either(known.test, branch.test) };
  }
  return byKind(each, merged);
}

function isOneOf(each: Cel, values: readonly (number | string)[]): Test {
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
  if (!each.wild && !value.wild) return ask(relation("in", each.cel, values));
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
