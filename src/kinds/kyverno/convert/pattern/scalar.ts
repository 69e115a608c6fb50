/** Texts, numbers, booleans and null in patterns, as tests of a value that is there and no list. */
import { parseGoDuration } from "../../../../data/go/duration.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { ShapeType } from "./shape.js";

/** A test of one value. */
export interface Test {
  /** The test. Where the value is of an unforeseen type it may be an error, which denies, unless it was asked to be exact. */
  readonly of: (value: Cel) => Cel;
  /** Whether null passes: it counts as 0 in comparisons of numbers. A value that is null is not given to the test. */
  readonly nullPasses: boolean;
  /** A value that passes, and one that fails, to stand for one that is missing. */
  readonly passing?: Cel;
  readonly failing?: Cel;
  /** Whether the value stands several times in the test. */
  readonly isRepeated?: boolean;
}

/** The purpose of a test. */
export interface TestFor {
  /** The type of the value; `undefined`: not known. */
  readonly type: ShapeType | undefined;
  /** Whether the test is never an error: it decides whether something else is tested. */
  readonly exact: boolean;
}

const SCALARS = ["string", "bool", "int", "double"];
const EMPTY = cel.literal("");

/** The test of a scalar of a pattern without variables. */
export function testOf(pattern: unknown, use: TestFor): Test {
  if (typeof pattern === "string") return textTest(pattern, use);
  if (typeof pattern === "boolean") return booleanTest(pattern);
  if (pattern === null || pattern === undefined) return nullTest(use);
  return numberTest(pattern, use);
}

function booleanTest(wanted: boolean): Test {
  const [passing, failing] = [cel.literal(wanted), cel.literal(!wanted)];
  return { of: (value) => cel.equal(value, passing), nullPasses: false, passing, failing };
}

function nullTest({ type }: TestFor): Test {
  const passing = type === "number" ? cel.literal(0) : type === "bool" ? cel.FALSE : EMPTY;
  const of = (value: Cel): Cel =>
    type === undefined || type === "quantity"
      ? cel.relation("in", value, cel.primary('[dyn(""), dyn(0), dyn(false)]'))
      : cel.equal(value, passing);
  return { of, nullPasses: true, passing };
}

function numberTest(pattern: unknown, { type, exact }: TestFor): Test {
  const number = cel.literal(Number(pattern));
  const text = cel.literal(number.text);
  if (!Number.isInteger(Number(pattern)))
    return amountTest({ comparison: "==", operand: number.text }, { type, exact });
  const of = (value: Cel): Cel => {
    if (type === "bool") return cel.FALSE;
    if (type === "number") return cel.equal(value, number);
    if (type === "string") return cel.equal(value, text);
    // Large whole numbers of the command line are doubles, whose text has an exponent.
    return !exact && Math.abs(Number(number.text)) < 1e6
      ? cel.equal(cel.call("string", value), text)
      : cel.or(cel.equal(value, number), cel.equal(value, text));
  };
  const [passing, failing] = type === "string" ? [text, EMPTY] : [number, cel.literal(number.text === "0" ? 1 : 0)];
  return { of, nullPasses: false, passing, failing };
}

function textTest(text: string, use: TestFor): Test {
  const pattern = parseTextPattern(text);
  // A text that equals the whole pattern passes before the pattern is read; only where it skips something it matters that a range passes its own text.
  const whole: Atom = { comparison: "==", operand: text };
  const isRead = acceptsText(pattern, text) || hasWildcard(text) || (isForAmounts(pattern) && !use.exact);
  return partTest(
    isRead || use.type !== undefined ? pattern : { any: [...("any" in pattern ? pattern.any : [pattern]), whole] },
    use,
  );
}

/** Whether only numbers, quantities and durations pass. */
function isForAmounts(pattern: TextPattern): boolean {
  if ("all" in pattern) return pattern.all.some(isForAmounts);
  return "any" in pattern ? pattern.any.every(isForAmounts) : !isText(pattern);
}

/** Whether only texts are compared: no number, quantity or duration equals the operand. */
const isText = ({ operand }: Atom): boolean => !isQuantity(operand) && !isDuration(operand);

function partTest(pattern: TextPattern, use: TestFor): Test {
  if ("comparison" in pattern) return atomTest(pattern, use);
  // Texts to be equal, or unequal, to are one list.
  const isAny = "any" in pattern;
  const parts = isAny ? pattern.any : pattern.all;
  const isListed = (part: TextPattern): part is Atom =>
    "comparison" in part && part.comparison === (isAny ? "==" : "!=") && isText(part) && !hasWildcard(part.operand);
  const texts = parts.filter(isListed).map(({ operand }) => operand);
  const tests = parts.filter((part) => !isListed(part)).map((part) => partTest(part, use));
  if (texts.length > 0)
    tests.unshift(isAny ? literalTest(texts, use) : negated(literalTest(texts, insideNegation(use)), use));
  const [first] = tests;
  if (first !== undefined && tests.length === 1) return first;
  const nulls = tests.map((test) => test.nullPasses);
  const isShared = !isAny || tests.every(({ failing }) => failing?.text === first?.failing?.text);
  return {
    of: (value) => (isAny ? cel.or : cel.and)(...tests.map((test) => test.of(value))),
    nullPasses: isAny ? nulls.includes(true) : !nulls.includes(false),
    isRepeated: true,
    ...(isShared && first?.failing && { failing: first.failing }),
  };
}

function atomTest(atom: Atom, use: TestFor): Test {
  if (!isText(atom)) return amountTest(atom, use);
  const { comparison, operand } = atom;
  if (comparison !== "==" && comparison !== "!=") return { of: () => cel.FALSE, nullPasses: false, failing: EMPTY };
  const inner = comparison === "!=" ? insideNegation(use) : use;
  const test = hasWildcard(operand) ? wildcardTest(operand, inner) : literalTest([operand], inner);
  return comparison === "!=" ? negated(test, use) : test;
}

/** The test of a scalar whose text is not what another test wants. */
function negated({ of, passing, failing }: Test, { type, exact }: TestFor): Test {
  const test = (value: Cel): Cel => {
    if (type !== undefined) return cel.not(of(value));
    // A list or map has no text: it is an error, which fails. Null fails, too.
    const negation = cel.not(of(cel.call("string", value)));
    return exact ? cel.and(cel.isType(value, ...SCALARS), negation) : negation;
  };
  return { of: test, nullPasses: false, ...(failing && { passing: failing }), ...(passing && { failing: passing }) };
}

/** The purpose of the test inside of a negation. */
const insideNegation = ({ type }: TestFor): TestFor => ({ type: type ?? "string", exact: false });

const isWord = (text: string): boolean => text === "true" || text === "false";

/** The test of a text that must be one of some; booleans count as their texts. */
function literalTest(texts: readonly string[], { type, exact }: TestFor): Test {
  const wanted = [...new Set(texts)];
  if (type === "number") return { of: () => cel.FALSE, nullPasses: false, failing: cel.literal(0) };
  if (type === "bool") {
    const words = wanted.filter(isWord);
    if (words.length === 1) return booleanTest(words[0] === "true");
    return { of: () => cel.literal(words.length > 0), nullPasses: false };
  }
  const words = type === undefined ? wanted.filter(isWord) : [];
  const one = (value: Cel): Cel =>
    wanted.length === 1 ? cel.equal(value, cel.literal(wanted[0])) : cel.relation("in", value, cel.literal(wanted));
  const of = (value: Cel): Cel => {
    if (words.length > 0 && !exact) return one(cel.call("string", value));
    return cel.or(one(value), ...words.map((word) => cel.equal(value, cel.literal(word === "true"))));
  };
  const failing = wanted.includes("") ? cel.NULL : EMPTY;
  return { of, nullPasses: false, passing: cel.literal(wanted[0]), failing };
}

/** The test of a text that must match one with wildcards; numbers and booleans count as their texts. */
function wildcardTest(pattern: string, { type, exact }: TestFor): Test {
  const acceptsAll = /^\*+$/.test(pattern);
  const acceptsFilled = acceptsAll || /^\?\*+$|^\*+\?$/.test(pattern);
  const words = [wildcardMatches(pattern, "true"), wildcardMatches(pattern, "false")];
  if (type === "bool") {
    const [yes = false, no = false] = words;
    return yes === no ? { of: () => cel.literal(yes), nullPasses: false } : booleanTest(yes);
  }
  if (type === "number" && acceptsFilled) return { of: () => cel.TRUE, nullPasses: false };
  // The text of a number is its digits, or has an exponent: it depends on where Kyverno has it from.
  const mayBeOther = acceptsFilled || /^-?\d+\*+$/.test(pattern) || words.includes(true);
  const isText = type === "string" || (type !== "number" && !mayBeOther);
  const of = (value: Cel): Cel => {
    if (acceptsAll) return type === "string" ? cel.TRUE : cel.isType(value, ...SCALARS);
    const guard = exact && type === undefined ? cel.isType(value, ...(isText ? ["string"] : SCALARS)) : cel.TRUE;
    if (acceptsFilled)
      return cel.and(guard, cel.relation("!=", exact || isText ? value : cel.call("string", value), EMPTY));
    return cel.and(guard, matching(isText ? value : cel.call("string", value), pattern));
  };
  const sample = cel.literal(pattern.replaceAll("*", "").replaceAll("?", "x"));
  return { of, nullPasses: false, passing: sample, ...(!acceptsAll && { failing: EMPTY }) };
}

/** Whether a text matches one with wildcards. */
export function matching(text: Cel, pattern: string): Cel {
  const [, left = "", word = "", right = ""] = /^(\**)([^*?]*)(\**)$/.exec(pattern) ?? [];
  if (/^\*+$/.test(pattern)) return cel.TRUE;
  if (word === "") return cel.method(text, "matches", cel.literal(wildcardRegex(pattern)));
  const name = left === "" ? "startsWith" : right === "" ? "endsWith" : "contains";
  return cel.method(text, name, cel.literal(word));
}

/** The form of Go's durations. */
export const DURATION = "^[-+]?(0|((\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)$";

/** The comparison with a number, quantity or duration; null counts as 0, and other texts are equal to none. */
function amountTest({ comparison, operand }: Atom, { type, exact }: TestFor): Test {
  const nullPasses = isTrue(comparison, -Number.parseFloat(operand));
  if (type === "bool") return { of: () => cel.literal(comparison === "!="), nullPasses };
  const isPlain = /^-?\d+(\.\d+)?$/.test(operand);
  if (type === "number" && isPlain) {
    const number = Number(operand);
    const of = (value: Cel): Cel => cel.relation(comparison, value, cel.literal(number));
    const passing = cel.literal([number, number + 1, number - 1].find((each) => isTrue(comparison, each - number)));
    return { of, nullPasses, passing, ...(!nullPasses && { failing: cel.literal(0) }) };
  }
  const wanted = comparison === "!=" ? "==" : comparison;
  const of = (value: Cel): Cel => {
    const text = type === "string" ? value : cel.call("string", value);
    // A number has no unit: of a duration only a text can be one.
    const words = comparison === "!=" || isQuantity(operand) || exact ? text : value;
    const tests: Cel[] = [];
    if (isQuantity(operand)) {
      const test = quantityTest(text, wanted, cel.literal(operand));
      const isSure = type === "number" || type === "quantity";
      tests.push(isSure ? test : cel.and(cel.call("isQuantity", text), test));
    }
    // A text such as 5m is both, and says the same of values that are both.
    if (isDuration(operand) && (type === undefined || type === "string" || !isQuantity(operand)))
      tests.push(
        cel.and(
          cel.method(words, "matches", cel.literal(DURATION)),
          cel.relation(wanted, cel.call("duration", words), cel.call("duration", cel.literal(operand))),
        ),
      );
    const test = cel.or(...tests);
    const result = comparison === "!=" ? cel.not(test) : test;
    const types = comparison === "!=" ? SCALARS : isQuantity(operand) ? ["string", "int", "double"] : ["string"];
    return exact && type === undefined ? cel.and(cel.isType(value, ...types), result) : result;
  };
  const zero = cel.literal(type === "number" ? 0 : "0");
  if (nullPasses) return { of, nullPasses, passing: zero };
  return { of, nullPasses, failing: zero, ...(isTrue(comparison, 0) && { passing: cel.literal(operand) }) };
}

/** The comparison of a text with another one, where both are quantities. */
export function quantityTest(text: Cel, comparison: Comparison, operand: Cel): Cel {
  const [left, right] = [cel.call("quantity", text), cel.call("quantity", operand)];
  if (comparison === "==") return cel.equal(left, right);
  if (comparison === "<") return cel.method(left, "isLessThan", right);
  if (comparison === ">") return cel.method(left, "isGreaterThan", right);
  return cel.relation(comparison, cel.method(left, "compareTo", right), cel.literal(0));
}

/** Whether a comparison is true, by the left value minus the right one. */
function isTrue(comparison: Comparison, difference: number): boolean {
  if (difference === 0) return comparison.endsWith("=") && comparison !== "!=";
  return comparison === "!=" || comparison.startsWith(difference < 0 ? "<" : ">");
}

/** The comparison of one part of a pattern. */
export type Comparison = "!=" | "<" | "<=" | "==" | ">" | ">=";

/** One comparison with a constant. */
interface Atom {
  readonly comparison: Comparison;
  readonly operand: string;
}

/** All, or one, of several tests. */
type TextPattern = Atom | { readonly all: readonly TextPattern[] } | { readonly any: readonly TextPattern[] };

const NUMBER = "[-|+]?\\d+(?:\\.\\d+)?[A-Za-z]*";
const RANGE = new RegExp(`^(${NUMBER})(!?)-(${NUMBER})$`);
/** The parts of a pattern's text: `|` splits before `&`. */
function parseTextPattern(text: string): TextPattern {
  const any = splitAt(text, "|").map((alternative) => {
    const all = splitAt(alternative, "&").map(atomOf);
    return all.length === 1 && all[0] !== undefined ? all[0] : { all };
  });
  return any.length === 1 && any[0] !== undefined ? any[0] : { any };
}

const splitAt = (text: string, separator: string): readonly string[] =>
  text.split(separator).map((part) => part.replace(/^ +| +$/g, ""));

function atomOf(text: string): TextPattern {
  const [, operator = ""] = text.length < 2 ? [] : (/^(>=|<=|>|<|!)/.exec(text) ?? []);
  const operand = text.slice(operator.length).trim();
  if (operator !== "") return { comparison: operator === "!" ? "!=" : (operator as Comparison), operand };
  const [, left = "", not = "", right = ""] = RANGE.exec(text) ?? [];
  if (left === "") return { comparison: "==", operand };
  const atoms = (first: Comparison, second: Comparison): readonly Atom[] => [
    { comparison: first, operand: left },
    { comparison: second, operand: right },
  ];
  return not === "" ? { all: atoms(">=", "<=") } : { any: atoms("<", ">") };
}

const QUANTITY = /^[-+]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d+)?$/;

/** Whether a text is a quantity of Kubernetes: plain numbers are. */
export const isQuantity = (text: string): boolean => QUANTITY.test(text);

/** Whether a text is a duration of Go. */
const isDuration = (text: string): boolean => parseGoDuration(text).ok;

export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/** Whether a text matches another one with wildcards, or equals it. */
export const wildcardMatches = (pattern: string, text: string): boolean =>
  new RegExp(regexOf(pattern), "su").test(text);

/** The regular expression, in RE2's syntax, of a text with wildcards. */
const wildcardRegex = (pattern: string): string => `(?s)${regexOf(pattern)}`;

const regexOf = (pattern: string): string =>
  `^${pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".")}$`;

/** Whether a pattern accepts its own text, or another one that is neither a quantity nor a duration. */
function acceptsText(pattern: TextPattern, text: string): boolean {
  if ("all" in pattern) return pattern.all.every((part) => acceptsText(part, text));
  if ("any" in pattern) return pattern.any.some((part) => acceptsText(part, text));
  const { comparison, operand } = pattern;
  if (comparison !== "==" && comparison !== "!=") return false;
  return wildcardMatches(operand, text) === (comparison === "==");
}
