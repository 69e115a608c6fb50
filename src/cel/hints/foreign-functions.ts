/** Functions of other languages, and what CEL has instead: a table. */
import { nearNames } from "./near.js";

/** A call of a function that CEL does not have. */
export interface ForeignCall {
  /** The receiver, ready to be put before a dot; undefined for a call without one. */
  readonly target: string | undefined;
  readonly args: readonly string[];
  /** The field in the receiver or else the first argument: its operand, and its name. */
  readonly field: { readonly operand: string; readonly name: string } | undefined;
}

/** Replacements, best first; none where the call is of another shape. */
type Translation = (call: ForeignCall) => readonly string[];

/** The single operand of a call: its receiver, or its only argument. */
const only = ({ target, args }: ForeignCall): string | undefined =>
  target === undefined ? (args.length === 1 ? args[0] : undefined) : args.length === 0 ? target : undefined;

const ofOne =
  (write: (x: string) => string): Translation =>
  (call) => {
    const x = only(call);
    return x === undefined ? [] : [write(x)];
  };

/** Receiver and argument, or two arguments. */
const ofTwo =
  (...writes: readonly ((x: string, y: string) => string)[]): Translation =>
  ({ target, args }) => {
    const [x, y, more] = target === undefined ? args : [target, ...args];
    return x === undefined || y === undefined || more !== undefined ? [] : writes.map((write) => write(x, y));
  };

const method =
  (name: string): Translation =>
  ({ target, args }) => {
    const [x, ...rest] = target === undefined ? args : [target, ...args];
    return x === undefined ? [] : [`${x}.${name}(${rest.join(", ")})`];
  };

/** A macro: `x.some(v, condition)`, or with a function that takes each element. */
const macro =
  (name: string): Translation =>
  ({ target, args }) =>
    target !== undefined && args.length === 2 ? [`${target}.${name}(${args.join(", ")})`] : [];

const size = ofOne((x) => `size(${x})`);
const text = ofOne((x) => `string(${x})`);
const int = ofOne((x) => `int(${x})`);
const double = ofOne((x) => `double(${x})`);
const contained = ofTwo(
  (x, y) => `${y} in ${x}`,
  (x, y) => `${x}.contains(${y})`,
);
const key = ofTwo((x, y) => `${y} in ${x}`);
const lower = method("lowerAscii");
const upper = method("upperAscii");
const matches = method("matches");
const empty = ofOne((x) => `size(${x}) == 0`);
const present: Translation = ({ target, args, field }) =>
  field !== undefined && (target === undefined ? args.length === 1 : args.length === 0)
    ? [`has(${field.operand}.${field.name})`]
    : [];
const fallback: Translation = ({ target, args, field }) => {
  const value = target === undefined ? args[1] : args[0];
  const count = target === undefined ? 2 : 1;
  if (field === undefined || value === undefined || args.length !== count) return [];
  return [`${field.operand}.?${field.name}.orValue(${value})`];
};

const TABLE: readonly (readonly [names: string, translation: Translation])[] = [
  ["len length count strlen cardinality", size],
  ["includes include contain has_element member", contained],
  ["haskey has_key containskey hasownproperty", key],
  ["some any", macro("exists")],
  ["every each forall", macro("all")],
  [
    "find first",
    ({ target, args }) =>
      target !== undefined && args.length === 2 ? [`${target}.filter(${args.join(", ")})[0]`] : [],
  ],
  ["where select", macro("filter")],
  ["hasprefix beginswith", method("startsWith")],
  ["hassuffix", method("endsWith")],
  ["tolowercase tolower lower lowercase downcase", lower],
  ["touppercase toupper upper uppercase upcase", upper],
  ["strip trimspace", method("trim")],
  ["tostring str", text],
  ["parseint toint atoi integer number tonumber", int],
  ["parsefloat tofloat float", double],
  ["tobool boolean parsebool", ofOne((x) => `bool(${x})`)],
  ["match test regexp", matches],
  ["rematch regexmatch regex.match", ofTwo((pattern, x) => `${x}.matches(${pattern})`)],
  ["substr slice", method("substring")],
  ["isempty empty", empty],
  ["notempty isnotempty nonempty", ofOne((x) => `size(${x}) > 0`)],
  ["keys", ofOne((x) => `${x}.map(k, k)`)],
  ["values", ofOne((x) => `${x}.map(k, ${x}[k])`)],
  ["isnull isnil", ofOne((x) => `${x} == null`)],
  ["exists defined isdefined isset", present],
  ["default coalesce getordefault", fallback],
  [
    "get",
    ({ target, args }) => {
      if (target === undefined || args.length === 0 || args.length > 2) return [];
      return args.length === 1 ? [`${target}[${args[0]}]`] : [`${target}[?${args[0]}].orValue(${args[1]})`];
    },
  ],
  ["typeof kindof", ofOne((x) => `type(${x})`)],
  ["concat", ofTwo((x, y) => `${x} + ${y}`)],
  [
    "sprintf printf format",
    ({ target, args: [first, ...rest] }) =>
      target === undefined && first !== undefined ? [`${first}.format([${rest.join(", ")}])`] : [],
  ],
  ["abs", ofOne((x) => `math.abs(${x})`)],
  ["max", ({ target, args }) => (target === undefined && args.length > 1 ? [`[${args.join(", ")}].max()`] : [])],
  ["min", ({ target, args }) => (target === undefined && args.length > 1 ? [`[${args.join(", ")}].min()`] : [])],
  ["and", ofTwo((x, y) => `${x} && ${y}`)],
  ["or", ofTwo((x, y) => `${x} || ${y}`)],
  ["not", ofOne((x) => `!(${x})`)],
  [
    "iif ifelse ternary cond",
    ({ target, args: [condition, yes, no, more] }) =>
      target === undefined && no !== undefined && more === undefined ? [`${condition} ? ${yes} : ${no}`] : [],
  ],
];

const TRANSLATIONS: ReadonlyMap<string, Translation> = new Map(
  TABLE.flatMap(([names, translation]) => names.split(" ").map((name) => [name, translation] as const)),
);

/** Replacements of a call of that name, or of one that is nearly it, best first. Upper and lower case, and underscores, make no difference. */
export function translations(name: string, call: ForeignCall): readonly string[] {
  const known = name.toLowerCase().replaceAll("_", "");
  const exact = TRANSLATIONS.get(known);
  if (exact !== undefined) return exact(call);
  return nearNames(known, TRANSLATIONS.keys()).flatMap((near) => TRANSLATIONS.get(near)?.(call) ?? []);
}

/** Functions without a counterpart, and why. */
export const WITHOUT_COUNTERPART: ReadonlyMap<string, string> = new Map([
  [
    "now",
    "an expression knows no time of day: compare with a time that the request has, such as timestamp(object.metadata.creationTimestamp)",
  ],
  [
    "today",
    "an expression knows no time of day: compare with a time that the request has, such as timestamp(object.metadata.creationTimestamp)",
  ],
  ["reduce", "there is no fold in CEL: ask with all(), exists(), or sum() of a map()"],
  ["foreach", "there is no loop in CEL: ask with all(), exists(), or make a list with map()"],
  ["print", "an expression prints nothing: to see its parts, run it with --explain"],
  ["log", "an expression prints nothing: to see its parts, run it with --explain"],
]);
