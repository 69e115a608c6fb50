/** CEL as text, with the parentheses that a part needs where it becomes part of more. */
import { stringifyJson } from "../../../data/json.js";
import { isObject } from "../../../kubernetes/object.js";

/** How tightly the outermost operator of a text binds, from `? :` to a name. */
const LEVEL = { conditional: 0, or: 1, and: 2, relation: 3, sum: 4, product: 5, unary: 6, primary: 7 } as const;
type Level = (typeof LEVEL)[keyof typeof LEVEL];

/** A CEL expression. */
export interface Cel {
  readonly text: string;
  readonly level: Level;
}

const at = (level: Level, text: string): Cel => ({ text, level });

/** A name, or a text that needs no parentheses, such as `object.spec`. */
export const primary = (text: string): Cel => at(LEVEL.primary, text);

export const TRUE = primary("true");
export const FALSE = primary("false");
export const NULL = primary("null");

/** The text as an operand of an operator of that level. */
const operand = (cel: Cel, level: Level): string => (cel.level < level ? `(${cel.text})` : cel.text);

/** A text in double quotes, whose escapes are the same in JSON and in CEL. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed());

/** The literal of a JSON value. Values of several types in one list or map are wrapped into `dyn(…)`, as Kubernetes demands. */
export function literal(value: unknown): Cel {
  if (typeof value === "string") return primary(quoted(value));
  if (value === null || value === undefined) return NULL;
  if (typeof value === "boolean") return primary(String(value));
  if (Array.isArray(value)) return list(mixed(value));
  if (isObject(value)) {
    const values = mixed(Object.values(value));
    return map(Object.keys(value).map((key, index) => [key, values[index] ?? NULL]));
  }
  const text = stringifyJson(value);
  const isInteger = /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
  const number = isInteger || /[.e]/.test(text) ? text : `${text}.0`;
  return text.startsWith("-") ? at(LEVEL.unary, number) : primary(number);
}

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? "list" : isObject(value) ? "map" : value === null ? "null" : typeof value;

function mixed(values: readonly unknown[]): readonly Cel[] {
  const literals = values.map(literal);
  const isMixed =
    new Set(values.map(typeOf)).size > 1 || values.some((value) => typeof value === "object" && value !== null);
  return isMixed && values.length > 1 ? literals.map((each) => call("dyn", each)) : literals;
}

export const list = (items: readonly Cel[]): Cel => primary(`[${items.map(({ text }) => text).join(", ")}]`);

export const map = (entries: readonly (readonly [string, Cel])[]): Cel =>
  primary(`{${entries.map(([key, { text }]) => `${quoted(key)}: ${text}`).join(", ")}}`);

/** All of the operands: constants are folded, and operands that are there twice are dropped. */
export function and(...operands: readonly Cel[]): Cel {
  return joined("&&", LEVEL.and, operands, TRUE, FALSE);
}

/** One of the operands, folded like {@link and}. */
export function or(...operands: readonly Cel[]): Cel {
  return joined("||", LEVEL.or, operands, FALSE, TRUE);
}

function joined(operator: string, level: Level, operands: readonly Cel[], neutral: Cel, final: Cel): Cel {
  const left = new Map<string, Cel>();
  for (const each of operands) {
    if (each.text === neutral.text) continue;
    if (!left.has(each.text)) left.set(each.text, each);
    if (each.text === final.text) break;
  }
  const [first, ...others] = left.values();
  if (first === undefined) return neutral;
  if (others.length === 0) return first;
  return at(level, [first, ...others].map((each) => operand(each, level)).join(` ${operator} `));
}

export function not(cel: Cel): Cel {
  if (cel.text === "true") return FALSE;
  if (cel.text === "false") return TRUE;
  if (cel.level === LEVEL.unary && cel.text.startsWith("!")) {
    const inner = cel.text.slice(1);
    // `!(…)` of one pair of parentheses, or of a name, loses both.
    return primary(inner);
  }
  // `a == b` of two values without operators.
  const [, left, right] =
    cel.level === LEVEL.relation ? (/^(.+) == ("(?:[^"\\]|\\.)*"|\w+)$/.exec(cel.text) ?? []) : [];
  if (left !== undefined && right !== undefined && !left.includes("="))
    return at(LEVEL.relation, `${left} != ${right}`);
  return at(LEVEL.unary, `!${operand(cel, LEVEL.unary)}`);
}

/** `condition ? yes : no`, which evaluates one of both only. */
export function conditional(condition: Cel, yes: Cel, no: Cel): Cel {
  if (condition.text === "true" || yes.text === no.text) return yes;
  if (condition.text === "false") return no;
  return at(LEVEL.conditional, `${operand(condition, LEVEL.or)} ? ${operand(yes, LEVEL.or)} : ${no.text}`);
}

/** `a == b`, and the other operators between two values. */
export const relation = (operator: "!=" | "<" | "<=" | "==" | ">" | ">=" | "in", a: Cel, b: Cel): Cel =>
  at(LEVEL.relation, `${operand(a, LEVEL.sum)} ${operator} ${operand(b, LEVEL.sum)}`);

export const equal = (a: Cel, b: Cel): Cel => relation("==", a, b);

/** `a + b + …`: numbers, texts or lists. */
export const plus = (...operands: readonly Cel[]): Cel =>
  operands.length === 1 && operands[0] !== undefined
    ? operands[0]
    : at(LEVEL.sum, operands.map((each, i) => operand(each, i === 0 ? LEVEL.sum : LEVEL.product)).join(" + "));

export const minus = (a: Cel, b: Cel): Cel => at(LEVEL.sum, `${operand(a, LEVEL.sum)} - ${operand(b, LEVEL.product)}`);

export const times = (operator: "*" | "/" | "%", a: Cel, b: Cel): Cel =>
  at(LEVEL.product, `${operand(a, LEVEL.product)} ${operator} ${operand(b, LEVEL.unary)}`);

/** A global function. */
export const call = (name: string, ...values: readonly Cel[]): Cel =>
  primary(`${name}(${values.map(({ text }) => text).join(", ")})`);

/** A function of a value. */
export const method = (target: Cel, name: string, ...values: readonly Cel[]): Cel =>
  primary(`${operand(target, LEVEL.primary)}.${name}(${values.map(({ text }) => text).join(", ")})`);

/** Words that can't stand behind a dot; other reserved words, such as `namespace`, can. */
const RESERVED = new Set(["false", "in", "null", "true"]);

/** Whether a key can be written behind a dot. */
const isName = (key: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) && !RESERVED.has(key);

/** A member that must be there: an error where it is not. */
export const member = (target: Cel, key: string): Cel =>
  primary(`${operand(target, LEVEL.primary)}${isName(key) ? `.${key}` : `[${quoted(key)}]`}`);

/** A member as an optional value: behind the first one of a chain all members are optional. */
export const optionalMember = (target: Cel, key: string): Cel =>
  primary(`${operand(target, LEVEL.primary)}${isName(key) ? `.?${key}` : `[?${quoted(key)}]`}`);

/** An item by its index as an optional value. */
export const optionalItem = (target: Cel, index: number | Cel): Cel =>
  primary(`${operand(target, LEVEL.primary)}[?${typeof index === "number" ? index : index.text}]`);

export const item = (target: Cel, index: number | Cel): Cel =>
  primary(`${operand(target, LEVEL.primary)}[${typeof index === "number" ? index : index.text}]`);

/** The value of an optional value, else another one. */
export const orValue = (target: Cel, otherwise: Cel): Cel => method(target, "orValue", otherwise);

/** `has(…)` of a member. */
export const has = (target: Cel, key: string): Cel =>
  isName(key)
    ? call("has", member(target, key))
    : at(LEVEL.relation, `${quoted(key)} in ${operand(target, LEVEL.sum)}`);

/** `list.all(name, body)` and the other loops. */
export const loop = (
  target: Cel,
  macro: "all" | "exists" | "exists_one" | "filter" | "map",
  name: string,
  ...bodies: readonly Cel[]
): Cel =>
  primary(`${operand(target, LEVEL.primary)}.${macro}(${[name, ...bodies.map(({ text }) => text)].join(", ")})`);

/** Whether a value is of one of some types; a type's name as in CEL: `string`, `int`, `list`, `map`, … */
export const isType = (value: Cel, ...types: readonly string[]): Cel =>
  or(...types.map((type) => equal(call("type", value), primary(type))));

/** The loosest operators of an expression without what stands in brackets. */
const OUTERMOST: readonly (readonly [RegExp, Level])[] = [
  [/ \? /, LEVEL.conditional],
  [/ \|\| /, LEVEL.or],
  [/ && /, LEVEL.and],
  [/ (?:[=!<>]=|[<>]|in) /, LEVEL.relation],
  [/ [+-] /, LEVEL.sum],
  [/ [*/%] /, LEVEL.product],
];

/** An expression in which capital letters stand for operands. Its loops have names of one small letter, which are changed where an operand has such a name. */
export function filled(template: string, operands: Readonly<Record<string, Cel>>): Cel {
  let outer = template.replace(/"(?:[^"\\]|\\.)*"/g, "_");
  for (let before = ""; before !== outer; ) {
    before = outer;
    outer = outer.replace(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, "_");
  }
  const names = Object.values(operands).map(({ text }) => text.replace(/"(?:[^"\\]|\\.)*"/g, ""));
  const taken = (name: string): boolean => names.some((text) => new RegExp(`(?<![.\\w])${name}\\b`).test(text));
  const text = template.replace(
    /"(?:[^"\\]|\\.)*"|(?<![.\w])([a-zA-Z])\b/g,
    (part: string, name: string | undefined, at: number) => {
      if (name === undefined) return part;
      const given = operands[name];
      if (given === undefined) {
        let free = name;
        for (let i = 2; taken(free); i++) free = `${name}${i}`;
        return free;
      }
      const isAlone = /(?:^|[([]|, | : )$/.test(template.slice(0, at)) && /^(?:$|[)\],])/.test(template.slice(at + 1));
      return isAlone ? given.text : operand(given, LEVEL.primary);
    },
  );
  return at(OUTERMOST.find(([sign]) => sign.test(outer))?.[1] ?? LEVEL.primary, text);
}
