/** Hints for calls and operators whose arguments have types that do not match. */
import type { CallExpr, Expr } from "../ast.js";
import { BOOL, BYTES, DOUBLE, INT, STRING, type Type, UINT } from "../types.js";
import type { Candidate, HintSource } from "./hint-source.js";
import type { Part } from "./part.js";
import { defaultFor, isOptional, isText, kindName } from "./type-words.js";
import { foreignCandidates } from "./undeclared.js";

const COMPARISONS: ReadonlySet<string> = new Set(["_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"]);
/** Comparisons of types that have no operators for it. */
const ORDER: ReadonlyMap<string, (a: string, b: string) => string> = new Map([
  ["_>_", (a, b) => `${a}.isGreaterThan(${b})`],
  ["_<_", (a, b) => `${a}.isLessThan(${b})`],
  ["_>=_", (a, b) => `!${a}.isLessThan(${b})`],
  ["_<=_", (a, b) => `!${a}.isGreaterThan(${b})`],
]);
/** Functions that make a value of a type out of a text. */
const MAKERS: ReadonlyMap<string, string> = new Map([
  ["kubernetes.Quantity", "quantity"],
  ["kubernetes.Semver", "semver"],
  ["kubernetes.URL", "url"],
  ["net.IP", "ip"],
  ["net.CIDR", "cidr"],
  ["timestamp", "timestamp"],
  ["duration", "duration"],
]);

/** Candidates for a call whose arguments no overload takes. `types` are those of receiver and arguments. */
export function overloadCandidates(
  part: Part,
  call: CallExpr,
  types: readonly Type[],
  environment: HintSource,
): readonly Candidate[] {
  const operands = call.target === undefined ? call.args : [call.target, ...call.args];
  const write = (text: string, where = part): Candidate => ({ text: `write ${text}`, fixed: where.replacedBy(text) });
  /** The same call with other texts for some of its operands. */
  const withOperands = (change: (text: string, i: number) => string): string =>
    callText(
      call,
      operands.map((operand, i) => change(part.operand(operand), i)),
    );
  const candidates: Candidate[] = [];
  // Optional values are opened where they are used.
  if (types.some(isOptional)) {
    for (const value of defaultsFor(call.function, types)) {
      const text = withOperands((each, i) => (isOptional(types[i]) ? `${each}.orValue(${value})` : each));
      candidates.push({
        text: `an optional value is opened by orValue(): write ${text}`,
        fixed: part.replacedBy(text),
      });
    }
  }
  if (call.function === "!_") candidates.push(...negations(part, operands[0]));
  const [left, right] = operands;
  const [leftType, rightType] = types;
  if (left !== undefined && right !== undefined && leftType !== undefined && rightType !== undefined) {
    const [a, b] = [part.operand(left), part.operand(right)];
    const ordered = ORDER.get(call.function);
    if (ordered !== undefined) candidates.push(write(ordered(a, b)));
    if (COMPARISONS.has(call.function) || /^_[-+*/%]_$/.test(call.function)) {
      candidates.push(...converted(part, call, [left, right], [leftType, rightType]).map((text) => write(text)));
    }
    if (call.function === "@in" && isText(rightType)) candidates.push(write(`${b}.contains(${a})`));
    if (call.function === "contains" || call.function === "has") candidates.push(write(`${part.text(right)} in ${a}`));
    if (rightType.kind === "list" && /^(startsWith|endsWith|contains|matches)$/.test(call.function))
      candidates.push(write(`${b}.exists(each, ${a}.${call.function}(each))`));
    if (call.function === "contains" && call.target === undefined) candidates.push(write(`${b} in ${a}`));
  }
  if (call.function === "_?_:_") {
    candidates.push(write(withOperands((text, i) => (i > 0 && !isText(types[i]) ? `string(${text})` : text))));
    candidates.push(write(withOperands((text, i) => (i > 0 ? `dyn(${text})` : text))));
  }
  candidates.push(...otherStyle(part, call, environment).map((text) => write(text)), ...foreignCandidates(part, call));
  return candidates;
}

/** `f(x, y)` for `x.f(y)`, and the other way round. */
function otherStyle(part: Part, call: CallExpr, { free, member }: HintSource): readonly string[] {
  const { function: name, target, args } = call;
  const texts = args.map((arg) => part.text(arg));
  if (target !== undefined) return free.has(name) ? [`${name}(${[part.text(target), ...texts].join(", ")})`] : [];
  const [first, ...rest] = args;
  if (first === undefined || !member.has(name)) return [];
  return [`${part.operand(first)}.${name}(${rest.map((arg) => part.text(arg)).join(", ")})`];
}

/** `!x == y` negates x alone. */
function negations(part: Part, operand: Expr | undefined): readonly Candidate[] {
  const parent = part.parent;
  if (operand === undefined || parent === undefined || parent.expr.kind !== "call") return [];
  const { function: name, args } = parent.expr;
  const [left, right] = args;
  if (left?.id !== part.expr.id || right === undefined || !(COMPARISONS.has(name) || name === "@in")) return [];
  const text = `!(${part.text(operand)} ${name === "@in" ? "in" : name.slice(1, -1)} ${part.operand(right)})`;
  return [{ text: `write ${text}`, fixed: parent.replacedBy(text) }];
}

/** Both sides converted to one type: the conversion that loses nothing first. */
function converted(
  part: Part,
  call: CallExpr,
  [left, right]: readonly [Expr, Expr],
  [leftType, rightType]: readonly [Type, Type],
): readonly string[] {
  const symbol = call.function.slice(1, -1);
  const [a, b] = [part.operand(left), part.operand(right)];
  const both = (x: string, y: string): string => `${x} ${symbol} ${y}`;
  const texts: string[] = [];
  const numberIn = (expr: Expr): string | undefined =>
    expr.kind === "literal" && typeof expr.value === "string" && /^-?\d+(\.\d+)?$/.test(expr.value)
      ? expr.value
      : undefined;
  const isNumber = (type: Type): boolean => type.kind === "int" || type.kind === "uint" || type.kind === "double";
  if (call.function === "_+_") {
    if (isText(leftType)) texts.push(both(a, `string(${b})`));
    if (isText(rightType)) texts.push(both(`string(${a})`, b));
  }
  if (isText(leftType)) {
    const maker = MAKERS.get(kindName(rightType));
    if (maker !== undefined) texts.push(...comparing(call.function, `${maker}(${a})`, b, symbol));
    if (isNumber(rightType)) texts.push(both(numberIn(left) ?? `${rightType.kind}(${a})`, b));
    if (rightType.kind === "bool") texts.push(both(`bool(${a})`, b));
  }
  if (isText(rightType)) {
    const maker = MAKERS.get(kindName(leftType));
    if (maker !== undefined) texts.push(...comparing(call.function, a, `${maker}(${b})`, symbol));
    if (isNumber(leftType)) texts.push(both(a, numberIn(right) ?? `${leftType.kind}(${b})`));
    if (leftType.kind === "bool") texts.push(both(a, `bool(${b})`));
  }
  for (const number of [DOUBLE, INT, UINT]) {
    if (leftType.kind === number.kind && isNumber(rightType))
      texts.push(both(a, literalAs(right, number) ?? `${number.kind}(${b})`));
    if (rightType.kind === number.kind && isNumber(leftType))
      texts.push(both(literalAs(left, number) ?? `${number.kind}(${a})`, b));
  }
  return texts;
}

/** A whole number as a literal of another type. */
function literalAs(expr: Expr, { kind }: Type): string | undefined {
  if (expr.kind !== "literal") return undefined;
  const text = String(expr.value);
  if (!/^\d+$/.test(text)) return undefined;
  return kind === "double" ? `${text}.0` : kind === "uint" ? `${text}u` : text;
}

const comparing = (name: string, a: string, b: string, symbol: string): readonly string[] => [
  ORDER.get(name)?.(a, b) ?? `${a} ${symbol} ${b}`,
  `${a} ${symbol} ${b}`,
];

/** Defaults for an optional value, so that its call has types that match. */
function defaultsFor(name: string, types: readonly Type[]): readonly string[] {
  const other = types.find((type) => !isOptional(type));
  if (name === "!_" || name === "_?_:_") return [defaultFor(BOOL)];
  if (name === "@in" || name === "size") return ["[]", '""'];
  if (name === "_[_]") return ["{}", "[]"];
  const own = other === undefined ? [] : [defaultFor(other)];
  return [...own, defaultFor(STRING), defaultFor(INT), "[]", defaultFor(BYTES)];
}

/** The call with these texts as receiver and arguments. */
function callText(
  { function: name, target }: CallExpr,
  [first = "", second = "", third = "", ...more]: readonly string[],
): string {
  if (target !== undefined)
    return `${first}.${name}(${[second, third, ...more].filter((text) => text !== "").join(", ")})`;
  if (name === "@in") return `${first} in ${second}`;
  if (name === "_[_]") return `${first}[${second}]`;
  if (name === "_?_:_") return `${first} ? ${second} : ${third}`;
  if (name === "!_" || name === "-_") return `${name[0] ?? ""}${first}`;
  const symbol = /^_(.+)_$/.exec(name)?.[1];
  return symbol === undefined
    ? `${name}(${[first, second, third, ...more].filter((text) => text !== "").join(", ")})`
    : `${first} ${symbol} ${second}`;
}
