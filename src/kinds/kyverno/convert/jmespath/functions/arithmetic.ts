/** Functions of numbers, and arithmetic with numbers, quantities (`1Gi`) and durations (`90s`). */

import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import { loopOf, type Scope } from "../../scope.js";
import { constant, isNumber, known, shared, type Value } from "../value.js";
import { declare, unusedName } from "./declare.js";
import { durationText } from "./times.js";

/** What an operand may be; texts that are no quantities are durations. */
type Kind = "duration" | "number" | "quantity";

const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const FLOAT = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$";

const dyn = (value: Cel): Cel => cel.call("dyn", value);
const call = (name: string) => (value: Cel) => cel.call(name, value);
const double = call("double");
const float = (value: Cel): Cel => cel.method(value, "asApproximateFloat");
const milliseconds = (value: Cel): Cel => cel.method(value, "getMilliseconds");
const ofMilliseconds = (value: Cel): Cel =>
  cel.call("duration", cel.plus(cel.call("string", value), cel.literal("ms")));
const ofFloat = (value: Cel): Cel => cel.call("quantity", cel.call("string", value));

/** The literal of a number that is no int. */
const doubleLiteral = (value: unknown): Cel => {
  const { text, level } = cel.literal(value);
  return { text: /[.e]/.test(text) ? text : `${text}.0`, level };
};

/** A number as a double: an error for anything else. @param isTested whether it is no text */
function asDouble({ cel: value, type, constant }: Value, isTested = false): Cel {
  if (constant !== undefined) return doubleLiteral(constant.value);
  if (type === "double") return value;
  if (type === "int" || type === "number" || isTested) return double(value);
  return cel.conditional(cel.isType(value, "int"), double(value), value);
}

/** A whole number as an int: an error for anything else. */
function asInt({ cel: value, type, constant }: Value): Cel {
  if (constant !== undefined && Number.isInteger(Number(constant.value)))
    return cel.literal(Math.trunc(Number(constant.value)));
  if (type === "int") return value;
  if (constant !== undefined || type === "double" || type === "number") return cel.call("int", value);
  const isWhole = cel.and(cel.isType(value, "double"), cel.equal(value, cel.call("math.floor", value)));
  return cel.conditional(isWhole, cel.call("int", value), value);
}

/** Something to divide by: an error if it is 0. */
const nonZero = (value: Cel, divisor = value): Cel =>
  cel.conditional(
    cel.equal(value, cel.primary(value === divisor ? "0.0" : "0")),
    double(cel.primary("1 / 0")),
    divisor,
  );

/** The kinds that an operand may have. */
function kindsOf(value: Value, name: string): readonly Kind[] {
  const { value: known } = value.constant ?? {};
  const made = (["number", "quantity", "duration"] as const).filter((kind) => value[kind] !== undefined);
  if (made.length > 0) return made;
  if (isNumber(value)) return ["number"];
  if (typeof known === "string") return [QUANTITY.test(known) ? "quantity" : "duration"];
  if (value.type === "string") return ["quantity", "duration"];
  if (value.type === "dyn" || value.type === "scalar") return ["number", "quantity", "duration"];
  throw new NotConverted(
    [],
    `${name} calculates with numbers, quantities and durations: anything else is an error in Kyverno always`,
  );
}

const quantityOf = (value: Value): Cel => value.quantity ?? cel.call("quantity", value.cel);
const durationOf = (value: Value): Cel => value.duration ?? cel.call("duration", value.cel);
const numberOf = (value: Value, isTested = false): Cel => value.number ?? asDouble(value, isTested);
const divisor = (value: Value): Cel => {
  const number = numberOf(value);
  return value.constant === undefined || Number(value.constant.value) === 0
    ? nonZero(value.number ?? value.cel, number)
    : number;
};
const seconds = (value: Value): Cel => double(milliseconds(durationOf(value)));

/** A missing operand is an error. */
const strict = (value: Value): Value => ({ ...value, cel: value.sure ?? value.cel, nullable: false });

/** What tells the kinds of an operand apart, as far as they are not known. */
interface Test {
  readonly isText: Cel;
  readonly isNumber: Cel;
  /** Of a text. */
  readonly isQuantity: Cel;
}

function testOf({ cel: value }: Value, kinds: readonly Kind[]): Test {
  const type = [cel.call("type", value), cel.primary("string")] as const;
  const [isNumber, isText] =
    kinds.length === 1 && kinds[0] === "number" ? [cel.TRUE, cel.FALSE] : [cel.FALSE, cel.TRUE];
  const isMixed = kinds.includes("number") && kinds.length > 1;
  return {
    isText: isMixed ? cel.equal(...type) : isText,
    isNumber: isMixed ? cel.relation("!=", ...type) : isNumber,
    isQuantity: !kinds.includes("quantity")
      ? cel.FALSE
      : kinds.includes("duration")
        ? cel.call("isQuantity", value)
        : cel.TRUE,
  };
}

/** What an operator makes of operands of two kinds, where none of the rules before it fits. */
interface Rule {
  readonly of: readonly [Kind, Kind];
  readonly gives: Kind;
  readonly when: (a: Test, b: Test) => Cel;
  readonly write: (a: Value, b: Value) => Cel;
}

const rule = (a: Kind, b: Kind, gives: Kind, when: Rule["when"], write: Rule["write"]): Rule => ({
  of: [a, b],
  gives,
  when,
  write,
});

/** Beside a quantity a text has to be one, too. */
const eitherQuantity = (a: Test, b: Test): Cel => cel.or(a.isQuantity, b.isQuantity);
const rest = (): Cel => cel.TRUE;

const alike = (operator: (a: Cel, b: Cel) => Cel, name: "add" | "sub"): readonly Rule[] => [
  rule(
    "number",
    "number",
    "number",
    (a) => a.isNumber,
    (a, b) => operator(numberOf(a, true), numberOf(b)),
  ),
  rule("quantity", "quantity", "quantity", eitherQuantity, (a, b) => cel.method(quantityOf(a), name, quantityOf(b))),
  rule("duration", "duration", "duration", rest, (a, b) => operator(durationOf(a), durationOf(b))),
];

const scaledQuantity = (operator: "*" | "/", a: Value, b: Cel): Cel =>
  ofFloat(cel.times(operator, float(quantityOf(a)), b));
const scaledDuration = (operator: "*" | "/", a: Value, b: Cel): Cel =>
  ofMilliseconds(cel.call("int", cel.times(operator, double(milliseconds(durationOf(a))), b)));

const OPERATORS: Readonly<Record<string, readonly Rule[]>> = {
  add: alike(cel.plus, "add"),
  subtract: alike(cel.minus, "sub"),
  multiply: [
    rule(
      "number",
      "number",
      "number",
      (a, b) => cel.and(a.isNumber, b.isNumber),
      (a, b) => cel.times("*", numberOf(a, true), numberOf(b, true)),
    ),
    rule(
      "quantity",
      "number",
      "quantity",
      (a) => cel.and(a.isText, a.isQuantity),
      (a, b) => scaledQuantity("*", a, numberOf(b)),
    ),
    rule(
      "duration",
      "number",
      "duration",
      (a) => a.isText,
      (a, b) => scaledDuration("*", a, numberOf(b)),
    ),
    rule(
      "number",
      "quantity",
      "quantity",
      (_, b) => b.isQuantity,
      (a, b) => scaledQuantity("*", b, numberOf(a)),
    ),
    rule("number", "duration", "duration", rest, (a, b) => scaledDuration("*", b, numberOf(a))),
  ],
  divide: [
    rule(
      "number",
      "number",
      "number",
      (a) => a.isNumber,
      (a, b) => cel.times("/", numberOf(a, true), divisor(b)),
    ),
    rule(
      "quantity",
      "number",
      "quantity",
      (a, b) => cel.and(b.isNumber, a.isQuantity),
      (a, b) => scaledQuantity("/", a, divisor(b)),
    ),
    rule(
      "duration",
      "number",
      "duration",
      (_, b) => b.isNumber,
      (a, b) => scaledDuration("/", a, divisor(b)),
    ),
    rule("quantity", "quantity", "number", eitherQuantity, (a, b) =>
      cel.times("/", float(quantityOf(a)), nonZero(float(quantityOf(b)))),
    ),
    rule("duration", "duration", "number", rest, (a, b) => cel.times("/", seconds(a), nonZero(seconds(b)))),
  ],
  modulo: [
    rule(
      "number",
      "number",
      "number",
      (a) => a.isNumber,
      (a, b) => cel.times("%", asInt(a), asInt(b)),
    ),
    rule("quantity", "quantity", "quantity", eitherQuantity, (a, b) =>
      ofFloat(cel.times("%", cel.method(quantityOf(a), "asInteger"), cel.method(quantityOf(b), "asInteger"))),
    ),
    rule("duration", "duration", "duration", rest, (a, b) =>
      ofMilliseconds(cel.times("%", milliseconds(durationOf(a)), milliseconds(durationOf(b)))),
    ),
  ],
};

/** A quantity as a text that is an equal quantity: a plain number. */
function quantityText(quantity: Cel, scope: Scope): Cel {
  const q = cel.primary(loopOf(scope, "q").name);
  const isWhole = cel.equal(q, cel.call("math.floor", q));
  const text = cel.conditional(isWhole, cel.call("string", cel.call("int", q)), cel.call("string", q));
  return cel.call("cel.bind", q, float(quantity), text);
}

const printed = (kind: Kind, value: Cel, scope: Scope): Cel =>
  kind === "number" ? value : kind === "quantity" ? quantityText(value, scope) : durationText(value, scope);

/** One of several results, each with the condition that it needs; the last one is an error where nothing fits. */
interface Branch {
  readonly when: Cel;
  readonly kind: Kind;
  readonly value: Cel;
}

function resultOf(branches: readonly Branch[], scope: Scope): Value {
  const kinds = [...new Set(branches.map(({ kind }) => kind))];
  const chosen = (some: readonly Branch[], write: (branch: Branch) => Cel): Cel =>
    some
      .slice(0, -1)
      .reduceRight(
        (otherwise, branch) => cel.conditional(branch.when, write(branch), otherwise),
        write(some.at(-1) as Branch),
      );
  const isMixed = kinds.length > 1;
  const text = chosen(branches, ({ kind, value }) => {
    const made = printed(kind, value, scope);
    return isMixed ? dyn(made) : made;
  });
  const forms = kinds.map((kind) => [
    kind,
    chosen(
      branches.filter((each) => each.kind === kind),
      ({ value }) => value,
    ),
  ]);
  const [only] = kinds;
  return known(text, isMixed ? "dyn" : only === "number" ? "number" : "string", {
    fails: true,
    ...Object.fromEntries(forms),
  });
}

function calculate(name: string, first: Value, second: Value, scope: Scope): Value {
  const [left, right] = [kindsOf(first, name), kindsOf(second, name)];
  const rules = (OPERATORS[name] ?? []).filter(({ of }) => left.includes(of[0]) && right.includes(of[1]));
  if (rules.length === 0)
    throw new NotConverted([], `${name} of ${left.join("|")} and ${right.join("|")} is an error in Kyverno always`);
  const [a, b] = [first, second].map((operand) => (rules.length > 1 ? named(operand, scope) : operand)) as [
    Value,
    Value,
  ];
  const [testA, testB] = [testOf(a, left), testOf(b, right)];
  return resultOf(
    rules.map(({ of: _, gives, when, write }) => ({ when: when(testA, testB), kind: gives, value: write(a, b) })),
    scope,
  );
}

/** A long operand as a variable. */
const named = (operand: Value, { draft, inline, depth }: Scope): Value =>
  inline || depth > 0 || operand.cel.text.length <= 30
    ? operand
    : { ...operand, cel: draft.variable("value", operand.cel, []) };

/** The sum of numbers. */
function total({ cel: list, items }: Value): Cel {
  const name = unusedName("v", list);
  return cel.method(cel.loop(list, "map", name.text, asDouble(known(name, items?.type ?? "dyn"))), "sum");
}

/** The sum of numbers, of quantities or of durations: an error without any. */
function sum(argument: Value, scope: Scope): Value {
  const list = named(argument, scope);
  const item = unusedName("v", list.cel);
  const each = (write: (item: Cel) => Cel): Cel => cel.method(cel.loop(list.cel, "map", item.text, write(item)), "sum");
  const thousandths = each((value) =>
    cel.call("int", cel.call("math.round", cel.times("*", float(cel.call("quantity", value)), cel.primary("1000.0")))),
  );
  const first = known(cel.item(list.cel, 0), list.items?.type ?? "dyn");
  const kinds = kindsOf(first, "sum");
  const { isNumber: isNumeric } = testOf(first, kinds);
  const number = total(list);
  const isEmpty = cel.equal(list.cel, cel.list([]));
  const branches: readonly Branch[] = [
    // What is not asked for its first item is asked here, for the error.
    {
      when: isNumeric,
      kind: "number",
      value: kinds.length > 1 ? number : cel.conditional(isEmpty, double(first.cel), number),
    },
    {
      when: cel.loop(list.cel, "exists", item.text, cel.call("isQuantity", item)),
      kind: "quantity",
      value: cel.call("quantity", cel.plus(cel.call("string", thousandths), cel.literal("m"))),
    },
    { when: cel.TRUE, kind: "duration", value: each(call("duration")) },
  ];
  return resultOf(
    branches.filter(({ kind }) => kinds.includes(kind)),
    scope,
  );
}

/** A function that leaves an int as it is. */
const ofDouble = (a: Value, scope: Scope, change: (value: Cel) => Cel): Value =>
  a.type === "int" || a.type === "double" || a.type === "number"
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
    if (!new RegExp(FLOAT).test(text)) return constant(null);
    return known(doubleLiteral(Number(text)), "double", { constant: { value: Number(text) } });
  }
  const parsed = (value: Cel): Cel =>
    cel.conditional(cel.method(value, "matches", cel.literal(FLOAT)), dyn(double(value)), cel.NULL);
  if (a.type === "string" && !a.nullable) return known(shared(a.cel, scope, parsed), "number", { nullable: true });
  if (!["dyn", "scalar", "string", "number", "int", "double"].includes(a.type)) return constant(null);
  const number = (value: Cel): Cel => cel.conditional(cel.isType(value, "int", "double"), value, cel.NULL);
  const made = shared(a.cel, scope, (value) =>
    cel.conditional(cel.isType(value, "string"), parsed(value), number(value)),
  );
  return known(made, "number", { nullable: true });
}

export const NUMBER_FUNCTIONS = [
  ...Object.keys(OPERATORS).map((name) =>
    declare(name, "any, any", (a, b, { scope }) => calculate(name, strict(a), strict(b), scope)),
  ),
  declare("sum", "array", (a, _, { scope }) => sum(a, scope)),
  declare("avg", "array", (a) =>
    known(cel.times("/", total(a), double(cel.call("size", a.cel))), "number", { fails: true }),
  ),
  declare("abs", "number", (a) => known(cel.call("math.abs", a.cel), a.type === "dyn" ? "number" : a.type)),
  declare("ceil", "number", (a, _, { scope }) => ofDouble(a, scope, call("math.ceil"))),
  declare("floor", "number", (a, _, { scope }) => ofDouble(a, scope, call("math.floor"))),
  declare("round", "number, number", (a, b, { scope }) => {
    const digits = Number(b.constant?.value);
    if (!Number.isInteger(digits) || digits < 0)
      throw new NotConverted([], "round is converted where the count of digits is a whole number that is known");
    return ofDouble(a, scope, (value) => cel.call("math.round", value, cel.literal(digits)));
  }),
  declare("to_number", "any", (a, _, { scope }) => toNumber(a, scope)),
];
