/** Functions of numbers, and arithmetic with numbers, quantities (`1Gi`) and durations (`90s`). */

import * as cel from "../../cel-text.js";
import { type Cel, filled } from "../../cel-text.js";
import { isReadable, numberOf as parsedNumber } from "../../conditions/comparisons.js";
import { NotConverted } from "../../not-converted.js";
import { isQuantity } from "../../pattern/scalar.js";
import type { Scope } from "../../scope.js";
import { constant, isNumber, known, shared, type Value } from "../value.js";
import { declare, named, sure } from "./declare.js";
import { durationOf, durationText } from "./times.js";

/** The kinds of operands; a text is a duration where it is not a quantity. */
type Kind = "duration" | "number" | "quantity";

const dyn = (value: Cel): Cel => cel.call("dyn", value);
const double = (value: Cel): Cel => cel.call("double", value);

/** The literal of a number as a double. */
function doubleLiteral(value: unknown): Cel {
  const { text, level } = cel.literal(value);
  return { text: /[.e]/.test(text) ? text : `${text}.0`, level };
}

/** A number as a double: an error for anything else. */
function asDouble({ cel: value, type, constant, number }: Value): Cel {
  if (number !== undefined || constant !== undefined) return number ?? doubleLiteral(constant?.value);
  if (type === "int" || type === "number") return double(value);
  return type === "double" ? value : cel.conditional(cel.isType(value, "int"), double(value), value);
}

/** A whole number as an int: an error for anything else. */
export function asInt({ cel: value, type, constant }: Value): Cel {
  if (constant !== undefined) return cel.literal(Math.trunc(Number(constant.value)));
  if (type === "int") return value;
  if (type === "double" || type === "number") return cel.call("int", value);
  const isWhole = cel.and(cel.isType(value, "double"), cel.equal(value, cel.call("math.floor", value)));
  return cel.conditional(isWhole, cel.call("int", value), value);
}

/** The kinds that an operand may have. */
function kindsOf(value: Value, name: string): readonly Kind[] {
  const { value: text } = value.constant ?? {};
  const made = (["number", "quantity", "duration"] as const).filter((kind) => value[kind] !== undefined);
  if (made.length > 0) return made;
  if (isNumber(value)) return ["number"];
  if (typeof text === "string") return [isQuantity(text) ? "quantity" : "duration"];
  if (value.type === "string") return ["quantity", "duration"];
  if (value.type === "dyn" || value.type === "scalar") return ["number", "quantity", "duration"];
  throw new NotConverted([], `${name} needs numbers, quantities or durations: anything else is an error in Kyverno`);
}

/** How an operand is written as `n`, a number, `i`, a whole number, `q`, a quantity, or `d`, a duration. */
const OPERANDS = {
  n: { kind: "number", write: asDouble },
  i: { kind: "number", write: asInt },
  q: { kind: "quantity", write: (value: Value) => value.quantity ?? cel.call("quantity", value.cel) },
  d: { kind: "duration", write: durationOf },
} as const;
const operandOf = (kinds: string, index: number) => OPERANDS[kinds.charAt(index) as keyof typeof OPERANDS];

/** A quotient that is an error where the divisor is 0. */
const quotient = (a: string, b: string): string => `${a} / (${b} == 0.0 ? double(1 / 0) : ${b})`;
const quantity = (number: string): string => `quantity(string(${number}))`;
const milliseconds = (count: string): string => `duration(string(${count}) + "ms")`;
const [FLOAT_A, FLOAT_B] = ["A.asApproximateFloat()", "B.asApproximateFloat()"] as const;
const [LONG_A, LONG_B] = ["double(A.getMilliseconds())", "double(B.getMilliseconds())"] as const;

/**
 * The expressions of the operators for operands A and B: the kinds of A, of B and of the result, when that is so if no rule before it fits (N: a number, T: a text, Q: a text
 * that is a quantity), and the expression. Beside a quantity a text has to be one, too.
 */
const OPERATORS: Readonly<Record<string, readonly (readonly [string, string, string])[]>> = {
  add: [
    ["nnn", "AN", "A + B"],
    ["qqq", "AQ|BQ", "A.add(B)"],
    ["ddd", "", "A + B"],
  ],
  subtract: [
    ["nnn", "AN", "A - B"],
    ["qqq", "AQ|BQ", "A.sub(B)"],
    ["ddd", "", "A - B"],
  ],
  multiply: [
    ["nnn", "AN&BN", "A * B"],
    ["qnq", "AT&AQ", quantity(`${FLOAT_A} * B`)],
    ["dnd", "AT", milliseconds(`int(${LONG_A} * B)`)],
    ["nqq", "BQ", quantity(`A * ${FLOAT_B}`)],
    ["ndd", "", milliseconds(`int(A * ${LONG_B})`)],
  ],
  divide: [
    ["nnn", "AN", quotient("A", "B")],
    ["qnq", "BN&AQ", quantity(quotient(FLOAT_A, "B"))],
    ["dnd", "BN", milliseconds(`int(${quotient(LONG_A, "B")})`)],
    ["qqn", "AQ|BQ", quotient(FLOAT_A, FLOAT_B)],
    ["ddn", "", quotient(LONG_A, LONG_B)],
  ],
  modulo: [
    ["iin", "AN", "A % B"],
    ["qqq", "AQ|BQ", quantity("A.asInteger() % B.asInteger()")],
    ["ddd", "", milliseconds("A.getMilliseconds() % B.getMilliseconds()")],
  ],
};

/** Whether an operand is a number, a text, or a text that is a quantity, as far as its kinds don't tell. */
function isOf(test: string, { cel: value }: Value, kinds: readonly Kind[]): Cel {
  const type = [cel.call("type", value), cel.primary("string")] as const;
  const [mayBeNumber, mayBeText] = [kinds.includes("number"), kinds.some((kind) => kind !== "number")];
  if (test === "N") return !mayBeNumber ? cel.FALSE : mayBeText ? cel.relation("!=", ...type) : cel.TRUE;
  if (test === "T") return !mayBeText ? cel.FALSE : mayBeNumber ? cel.equal(...type) : cel.TRUE;
  if (!kinds.includes("quantity")) return cel.FALSE;
  return kinds.includes("duration") ? cel.call("isQuantity", value) : cel.TRUE;
}

/** A quantity as a text that is an equal quantity: a plain number. */
const QUANTITY_TEXT = "cel.bind(q, A.asApproximateFloat(), q == math.floor(q) ? string(int(q)) : string(q))";

/** One of several results, with the condition that it needs; the last one is an error where nothing fits. */
interface Branch {
  readonly kind: Kind;
  readonly when: Cel;
  readonly value: Cel;
}

function resultOf(name: string, branches: readonly Branch[], scope: Scope): Value {
  const [only, ...others] = new Set(branches.map(({ kind }) => kind));
  const isMixed = others.length > 0;
  const chosen = (write: (branch: Branch) => Cel): Cel =>
    branches.reduceRight<Cel | undefined>(
      (rest, branch) => (rest === undefined ? write(branch) : cel.conditional(branch.when, write(branch), rest)),
      undefined,
    ) ?? cel.NULL;
  const text = chosen(({ kind, value }) => {
    const quantity = (A: Cel): Cel => filled(QUANTITY_TEXT, { A });
    const printed = { number: (of: Cel) => of, quantity, duration: durationText }[kind](value);
    return isMixed ? dyn(printed) : printed;
  });
  if (only === "number" && !isMixed) return known(text, "number", { fails: true, number: text });
  const form = isMixed || only === undefined ? {} : { [only]: chosen(({ value }) => value) };
  return named(name, known(text, isMixed ? "dyn" : "string", { fails: true, ...form }), scope);
}

function calculate(name: string, first: Value, second: Value, scope: Scope): Value {
  const kinds = { A: kindsOf(first, name), B: kindsOf(second, name) };
  const rules = (OPERATORS[name] ?? []).filter(
    ([letters]) => kinds.A.includes(operandOf(letters, 0).kind) && kinds.B.includes(operandOf(letters, 1).kind),
  );
  if (rules.length === 0)
    throw new NotConverted(
      [],
      `${name} of ${kinds.A.join("|")} and ${kinds.B.join("|")} is an error in Kyverno always`,
    );
  const isAsked = rules.length > 1;
  const operands = isAsked
    ? { A: named("value", first, scope), B: named("value", second, scope) }
    : { A: first, B: second };
  const test = (code: string): Cel => {
    const [side, other] = code.startsWith("A") ? (["A", "B"] as const) : (["B", "A"] as const);
    // Two numbers were asked for before.
    if (code.endsWith("T") && kinds[other].every((kind) => kind === "number")) return cel.TRUE;
    return isOf(code.charAt(1), operands[side], kinds[side]);
  };
  const { A, B } = operands;
  const branches = rules.map(([letters, tests, template]): Branch => {
    const join = tests.includes("|") ? cel.or : cel.and;
    // A number that was asked for its type needs no second question.
    const a = isAsked && letters.startsWith("n") && A.type === "dyn" ? { ...A, type: "number" as const } : A;
    const texts = [operandOf(letters, 0).write(a), operandOf(letters, 1).write(B)] as const;
    const isDivisible = Number.parseFloat(String(B.constant?.value)) > 0;
    const known = isDivisible ? template.replace(/\((\S+) == 0\.0 .*? : \1\)/, "$1") : template;
    const value = filled(known, { A: texts[0], B: texts[1] });
    return { kind: operandOf(letters, 2).kind, when: join(...tests.split(/[&|]/).filter(Boolean).map(test)), value };
  });
  return resultOf(name, branches, scope);
}

/** The sum of numbers. */
const total = ({ cel: A, items }: Value): Cel =>
  filled(`A.map(v, ${asDouble(known(cel.primary("v"), items?.type ?? "dyn")).text}).sum()`, { A });

/** The sum of numbers, or of quantities: an error without any. Kyverno adds durations, too: an error here. */
function sum(argument: Value, scope: Scope): Value {
  const list = named("list", argument, scope);
  const first = known(cel.item(list.cel, 0), list.items?.type ?? "dyn");
  const kinds = kindsOf(first, "sum");
  const of = (template: string): Cel => filled(template, { A: list.cel });
  const thousandths = "A.map(v, int(math.round(quantity(v).asApproximateFloat() * 1000.0))).sum()";
  // The question for the type of the first item is an error without items: so is the item, where its type is known.
  const isAsked = kinds.includes("number") && kinds.length > 1;
  const orFirst = (made: Cel, cast: string): Cel =>
    isAsked ? made : cel.conditional(of("A == []"), cel.call(cast, first.cel), made);
  const number: Branch = { kind: "number", when: isOf("N", first, kinds), value: orFirst(total(list), "double") };
  const sumOf = of(`quantity(string(${thousandths}) + "m")`);
  const quantity: Branch = { kind: "quantity", when: cel.TRUE, value: orFirst(sumOf, "quantity") };
  const branches = [number, quantity].filter(({ kind }) => kinds.includes(kind));
  return resultOf("sum", branches, scope);
}

/** A function of doubles that leaves an int as it is. */
const ofDouble = (a: Value, scope: Scope, change: (value: Cel) => Cel): Value =>
  isNumber(a)
    ? known(a.type === "int" ? a.cel : change(asDouble(a)), a.type)
    : known(
        shared(a.cel, scope, (value) => cel.conditional(cel.isType(value, "int"), value, change(value))),
        "number",
      );

/** The number that a text is, null for anything else. */
function toNumber(a: Value, scope: Scope): Value {
  const { value: text } = a.constant ?? {};
  if (isNumber(a) && !a.nullable) return a;
  if (typeof text === "string") {
    const value = parsedNumber(text);
    return value === undefined ? constant(null) : known(doubleLiteral(value), "double", { constant: { value } });
  }
  const parsed = (value: Cel): Cel =>
    cel.conditional(isReadable("number", { cel: value }).yes, dyn(double(value)), cel.NULL);
  if (a.type === "string" && !a.nullable) return known(shared(a.cel, scope, parsed), "number", { nullable: true });
  const number = (value: Cel): Cel => cel.conditional(cel.isType(value, "int", "double"), value, cel.NULL);
  const made = shared(a.cel, scope, (value) =>
    cel.conditional(cel.isType(value, "string"), parsed(value), number(value)),
  );
  return known(made, "number", { nullable: true });
}

export const NUMBER_FUNCTIONS = [
  ...Object.keys(OPERATORS).map((name) =>
    declare(name, "any, any", (a, b, { scope }) => calculate(name, sure(a), sure(b), scope)),
  ),
  declare("sum", "array", (a, _, { scope }) => sum(a, scope)),
  declare("avg", "array", (a) =>
    known(cel.times("/", total(a), double(cel.call("size", a.cel))), "number", { fails: true }),
  ),
  declare("abs", "number", (a) => known(cel.call("math.abs", a.cel), isNumber(a) ? a.type : "number")),
  declare("ceil", "number", (a, _, { scope }) => ofDouble(a, scope, (value) => cel.call("math.ceil", value))),
  declare("floor", "number", (a, _, { scope }) => ofDouble(a, scope, (value) => cel.call("math.floor", value))),
  declare("round", "number, number", (a, b, { scope }) => {
    const digits = Number(b.constant?.value);
    if (!Number.isInteger(digits) || digits < 0)
      throw new NotConverted([], "round is converted where the count of digits is a known whole number");
    return ofDouble(a, scope, (value) => cel.call("math.round", value, cel.literal(digits)));
  }),
  declare("to_number", "any", (a, _, { scope }) => toNumber(a, scope)),
];
