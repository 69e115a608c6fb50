/** Texts, numbers, booleans and null in patterns, as tests of a value that is there and no list. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { ShapeType } from "./shape.js";
import {
  type Atom,
  acceptsText,
  type Comparison,
  hasWildcard,
  isDuration,
  isQuantity,
  parseTextPattern,
  type TextPattern,
  wildcardMatches,
  wildcardRegex,
} from "./text-pattern.js";

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

/** What a test is made for. */
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
  const empty = { string: EMPTY, number: cel.literal(0), bool: cel.FALSE, quantity: EMPTY };
  if (type !== undefined && type in empty && type !== "quantity") {
    const passing = empty[type as keyof typeof empty];
    return { of: (value) => cel.equal(value, passing), nullPasses: true, passing };
  }
  const all = cel.primary('[dyn(""), dyn(0), dyn(false)]');
  return { of: (value) => cel.relation("in", value, all), nullPasses: true, passing: EMPTY };
}

function numberTest(pattern: unknown, { type, exact }: TestFor): Test {
  const number = cel.literal(Number.isInteger(Number(pattern)) ? Number(pattern) : pattern);
  const text = cel.literal(number.text);
  const isWhole = /^-?\d+$/.test(number.text);
  const of = (value: Cel): Cel => {
    if (type === "bool") return cel.FALSE;
    if (type === "number") return cel.equal(value, number);
    if (!isWhole && !exact && type !== "string") return cel.equal(cel.call("double", value), number);
    if (type === "string") return cel.equal(value, text);
    // Large whole numbers of the command line are doubles, whose text has an exponent.
    const isShort = Math.abs(Number(number.text)) < 1e6;
    if (!exact && isShort) return cel.equal(cel.call("string", value), text);
    return cel.or(cel.equal(value, number), cel.equal(value, text));
  };
  const isText = type === "string";
  const other = Number(number.text) === 0 ? 1 : 0;
  return { of, nullPasses: false, passing: isText ? text : number, failing: isText ? EMPTY : cel.literal(other) };
}

function textTest(text: string, use: TestFor): Test {
  const pattern = parseTextPattern(text);
  const test = partTest(pattern, use);
  // A text that equals the whole pattern passes before the pattern is read; comparisons with numbers never meet such texts.
  const isRead = !("comparison" in pattern) || pattern.operand !== text;
  const mayEqual = use.type === undefined || use.type === "string";
  if (!mayEqual || !isRead || acceptsText(pattern, text) || isNumeric(pattern)) return test;
  const literals = literalsOf(pattern);
  if (literals !== undefined) return literalTest([...literals, text], use);
  const whole = cel.literal(text);
  const of = (value: Cel): Cel => cel.or(test.of(value), cel.equal(value, whole));
  return { of, nullPasses: test.nullPasses, passing: whole };
}

/** Whether only numbers, quantities and durations pass. */
function isNumeric(pattern: TextPattern): boolean {
  if ("all" in pattern) return pattern.all.some(isNumeric);
  if ("any" in pattern) return pattern.any.every(isNumeric);
  return isQuantity(pattern.operand) || isDuration(pattern.operand);
}

/** The texts of which one must be equal, where the pattern says nothing else. */
function literalsOf(pattern: TextPattern): readonly string[] | undefined {
  if ("all" in pattern) return undefined;
  if ("any" in pattern) {
    const parts = pattern.any.map(literalsOf);
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  return isText(pattern) && pattern.comparison === "==" && !hasWildcard(pattern.operand)
    ? [pattern.operand]
    : undefined;
}

/** Whether only texts are compared: no number, quantity or duration equals the operand. */
const isText = ({ operand }: Atom): boolean => !isQuantity(operand) && !isDuration(operand);

function partTest(pattern: TextPattern, use: TestFor): Test {
  if ("any" in pattern) {
    const [literals, others] = [
      pattern.any.map(literalsOf),
      pattern.any.filter((part) => literalsOf(part) === undefined),
    ];
    const tests = others.map((part) => partTest(part, use));
    const texts = literals.flatMap((each) => each ?? []);
    if (texts.length > 0) tests.unshift(literalTest(texts, use));
    return joined(tests, true);
  }
  if ("all" in pattern) {
    const isUnwanted = (part: TextPattern): part is Atom =>
      "comparison" in part && part.comparison === "!=" && isText(part) && !hasWildcard(part.operand);
    const tests = pattern.all.filter((part) => !isUnwanted(part)).map((part) => partTest(part, use));
    const unwanted = pattern.all.filter(isUnwanted).map(({ operand }) => operand);
    if (unwanted.length > 0) tests.push(negated(literalTest(unwanted, insideNegation(use)), use));
    return joined(tests, false);
  }
  if (!isText(pattern)) return amountTest(pattern, use);
  const { comparison, operand } = pattern;
  if (comparison !== "==" && comparison !== "!=") return { of: () => cel.FALSE, nullPasses: false, failing: EMPTY };
  const inner = comparison === "!=" ? insideNegation(use) : use;
  const test = hasWildcard(operand) ? wildcardTest(operand, inner) : literalTest([operand], inner);
  return comparison === "!=" ? negated(test, use) : test;
}

function joined(tests: readonly Test[], isAny: boolean): Test {
  const [first] = tests;
  if (first !== undefined && tests.length === 1) return first;
  const join = isAny ? cel.or : cel.and;
  const nulls = tests.map((test) => test.nullPasses);
  const isShared = !isAny || tests.every(({ failing }) => failing?.text === first?.failing?.text);
  return {
    of: (value) => join(...tests.map((test) => test.of(value))),
    nullPasses: isAny ? nulls.includes(true) : !nulls.includes(false),
    isRepeated: true,
    ...(isShared && first?.failing && { failing: first.failing }),
  };
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

/** What the test inside of a negation is made for. */
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
  return { of, nullPasses: false, passing: sample, failing: acceptsAll ? cel.NULL : EMPTY };
}

/** Whether a text matches one with wildcards. */
export function matching(text: Cel, pattern: string): Cel {
  const [, left = "", word = "", right = ""] = /^(\**)([^*?]*)(\**)$/.exec(pattern) ?? [];
  const literal = cel.literal(word);
  if (!hasWildcard(pattern)) return cel.equal(text, literal);
  if (/^\*+$/.test(pattern)) return cel.TRUE;
  if (word !== "" && left !== "" && right !== "") return cel.method(text, "contains", literal);
  if (word !== "" && right !== "") return cel.method(text, "startsWith", literal);
  if (word !== "" && left !== "") return cel.method(text, "endsWith", literal);
  return cel.method(text, "matches", cel.literal(wildcardRegex(pattern)));
}

/** What a duration of Go looks like. */
const DURATION = "^[-+]?(0|((\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)$";

/** The comparison with a number, quantity or duration; null counts as 0, and texts that are none of these are equal to none. */
function amountTest({ comparison, operand }: Atom, { type, exact }: TestFor): Test {
  const sign = Math.sign(Number.parseFloat(operand));
  const nullPasses = compares(comparison, -sign);
  if (type === "bool") return { of: () => cel.literal(comparison === "!="), nullPasses };
  const isPlain = /^-?\d+(\.\d+)?$/.test(operand);
  if (type === "number" && isPlain) {
    const number = Number(operand);
    const step = { "<": -1, ">": 1, "!=": 1, "<=": 0, ">=": 0, "==": 0 }[comparison];
    return {
      of: (value) => cel.relation(comparison, value, cel.literal(number)),
      nullPasses,
      passing: cel.literal(number + step),
      failing: cel.literal(0),
    };
  }
  const isEquality = comparison === "==" || comparison === "!=";
  const wanted = isEquality ? "==" : comparison;
  const of = (value: Cel): Cel => {
    const text = type === "string" ? value : cel.call("string", value);
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
          cel.method(text, "matches", cel.literal(DURATION)),
          cel.relation(wanted, cel.call("duration", text), cel.call("duration", cel.literal(operand))),
        ),
      );
    const test = cel.or(...tests);
    const result = comparison === "!=" ? cel.not(test) : test;
    const types = comparison === "!=" ? SCALARS : ["string", "int", "double"];
    return exact && type === undefined ? cel.and(cel.isType(value, ...types), result) : result;
  };
  const strict = comparison === "<" || comparison === ">" || comparison === "!=";
  const zero = cel.literal(type === "number" ? 0 : "0");
  return {
    of,
    nullPasses,
    ...(nullPasses ? { passing: zero } : { failing: zero, ...(!strict && { passing: cel.literal(operand) }) }),
  };
}

/** The comparison of a text with another one, where both are quantities. */
export function quantityTest(text: Cel, comparison: Comparison, operand: Cel): Cel {
  const [left, right] = [cel.call("quantity", text), cel.call("quantity", operand)];
  if (comparison === "==") return cel.equal(left, right);
  if (comparison === "<") return cel.method(left, "isLessThan", right);
  if (comparison === ">") return cel.method(left, "isGreaterThan", right);
  return cel.relation(comparison, cel.method(left, "compareTo", right), cel.literal(0));
}

/** Whether a comparison holds, by the sign of the left value minus the right one. */
function compares(comparison: Comparison, sign: number): boolean {
  if (comparison === "==" || comparison === "!=") return (sign === 0) === (comparison === "==");
  return sign === 0 ? comparison.length === 2 : sign < 0 === comparison.startsWith("<");
}
