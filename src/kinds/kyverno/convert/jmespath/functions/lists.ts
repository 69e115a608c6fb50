/** Functions of lists, maps and of values of any type. */
import * as cel from "../../cel-text.js";
import { type Cel, filled } from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import { loopOf, type Scope } from "../../scope.js";
import type { Term } from "../../term.js";
import { constant, demanded, isNumber, known, shared, type Value } from "../value.js";
import { byType, declare, knownText, named, simple, type Writer } from "./declare.js";

type Items = NonNullable<Term["items"]>;
const itemsOf = (type: Items["type"], nullable = false): Items => ({ type, nullable, fails: false });
const withItems = (items: Term["items"]): Partial<Value> => (items === undefined ? {} : { items });
const fill = (template: string, operands: Readonly<Record<string, Cel>>) => (A: Cel) =>
  filled(template, { A, ...operands });

/** An item of a list, or a part of a text; anything else than a text is in no text. */
function contains(a: Value, b: Value, scope: Scope): Cel {
  const isText = b.type === "string" && !b.nullable;
  const mayBeText = ["dyn", "scalar", "string"].includes(b.type);
  if (a.keysOf !== undefined && isText) return cel.relation("in", b.cel, a.keysOf);
  const first = Array.isArray(a.constant?.value) ? constant(a.constant.value[0]).type : "dyn";
  const type = a.items?.type ?? first;
  const isOther = type !== "dyn" && b.type !== "dyn" && b.type !== type;
  // Anything else than a text is an error: every text begins with "".
  const never = a.type === "string" ? "false" : '!A.startsWith("")';
  const ofOther = mayBeText ? `type(B) == string ? A.contains(B) : ${never}` : never;
  const ofText = isText ? "A.contains(B)" : ofOther;
  return byType(a, scope, fill(isOther ? "dyn(B) in A" : "B in A", { B: b.cel }), fill(ofText, { B: b.cel }));
}

/** All entries of maps: a later map decides about a key. */
function merged(maps: readonly Value[]): Cel {
  const parts = maps.map(({ cel: map, constant: known }) => (known === undefined ? map : cel.call("dyn", map)));
  if (parts.length > 20) throw new NotConverted([], "a merge of more than 20 maps is not converted");
  const letters = [..."ABCDEFGHIJLMNOPQRSTU"].slice(0, parts.length);
  const [first = "A", ...others] = letters;
  if (others.length === 0) return parts[0] ?? cel.NULL;
  const keys = letters.map((letter) => `${letter}.map(k, k)`).join(" + ");
  const value = others.reduce((rest, letter) => `k in ${letter} ? ${letter}[k] : ${rest}`, `${first}[k]`);
  const operands = Object.fromEntries(letters.map((letter, i) => [letter, parts[i] ?? cel.NULL]));
  return filled(`(${keys}).distinct().transformMapEntry(i, k, {k: ${value}})`, operands);
}

/** The first value that is not null. */
function firstPresent(values: readonly Value[], scope: Scope): Value {
  const [first = constant(null), ...others] = values;
  if (!first.nullable || others.length === 0) return first;
  const rest = firstPresent(others, scope);
  if (first.type === "null") return rest;
  const text = shared(first.cel, scope, fill("A != null ? A : B", { B: rest.cel }));
  return known(text, first.type === rest.type ? first.type : "dyn", { nullable: rest.nullable });
}

/** The least or the greatest item of a list of numbers or of one of texts; null where it is empty. */
const extreme = (name: "max" | "min", end: "first" | "last") =>
  declare(name, "array", (a, _, { scope }) => {
    const { items } = a;
    const areNumbers = items !== undefined && isNumber({ ...items, cel: a.cel });
    const template = areNumbers ? `A == [] ? null : dyn(A.${name}())` : `A.sort().${end}().orValue(null)`;
    return known(shared(a.cel, scope, fill(template, {})), items?.type ?? "dyn", { nullable: true });
  });

/** A list in the order of what a reference makes of its items. */
function sortedBy(list: Value, template: string, { scope, by }: Parameters<Writer>[2]): Cel {
  const name = cel.primary(loopOf(scope).name);
  const key: Value = by(itemOf(list, name));
  return filled(template, { A: list.cel, E: name, K: key.sure ?? key.cel });
}

const itemOf = ({ items }: Value, name: Cel): Value => known(name, items?.type ?? "dyn", withItems(items?.items));

/** The name of a value's type in JMESPath, with the one in CEL. */
const TYPE_NAMES = { string: "string", bool: "boolean", list: "array", map: "object", null: "null" };

/** JMESPath's name of a value's type. */
function typeName(value: Value, scope: Scope): Value {
  const type = isNumber(value) ? "number" : value.type;
  if (!value.nullable && type !== "dyn" && type !== "scalar")
    return constant(type === "number" ? type : TYPE_NAMES[type as keyof typeof TYPE_NAMES]);
  const tests = Object.entries(TYPE_NAMES).map(
    ([name, word]) => `type(A) == ${name === "null" ? "null_type" : name} ? "${word}" : `,
  );
  return known(shared(value.cel, scope, fill(`${tests.join("")}"number"`, {})), "string");
}

function toText(value: Value, scope: Scope): Cel {
  const { type, nullable } = value;
  const isScalar = type === "bool" || type === "int" || type === "scalar";
  if (!nullable && (type === "string" || isScalar)) return isScalar ? cel.call("string", value.cel) : value.cel;
  const mayBeText = ["dyn", "scalar", "string"].includes(type);
  return shared(value.cel, scope, fill(mayBeText ? "type(A) == string ? A : json.marshal(A)" : "json.marshal(A)", {}));
}

export const LIST_FUNCTIONS = [
  simple("length", "string|array|object", "int", "size(A)"),
  declare("contains", "array|string, any", (a, b, { scope }) => known(contains(a, b, scope), "bool")),
  declare("keys", "object", (a) =>
    known(filled("A.map(k, k)", { A: a.cel }), "list", { items: itemsOf("string"), keysOf: a.cel }),
  ),
  simple("values", "object", "list", "A.map(k, A[k])"),
  declare("items", "object|array, string, string", (a, b, { c, scope }) => {
    const [key, value] = [knownText("items", b, "the name of keys"), knownText("items", c, "the name of values")];
    const names = { B: cel.literal(key), C: cel.literal(value) };
    const ofMap = fill("A.map(k, k).sort().map(k, {B: dyn(k), C: dyn(A[k])})", names);
    const text = byType(a, scope, fill("A.transformList(i, v, {B: dyn(i), C: dyn(v)})", names), ofMap);
    return known(text, "list", { items: itemsOf("map") });
  }),
  simple(
    "object_from_lists",
    "array, array",
    "map",
    "dyn(A.distinct()).transformMapEntry(i, k, {string(k): B[?A.lastIndexOf(k)].orValue(null)})",
  ),
  declare("merge", "object...", (_a, _b, { all, scope }) =>
    known(merged(all.map((each) => named("map", each, scope))), "map"),
  ),
  simple("label_match", "object, object", "bool", "A.all(k, k in B && B[k] == A[k])"),
  declare("lookup", "object|array, string|number", (a, b, { scope }) => {
    const template = b.type === "string" ? "B in A ? A[B] : null" : "A[?B].orValue(null)";
    const type = b.type === "string" ? "map" : isNumber(b) ? "list" : "(type(B) == string ? map : list)";
    const checked = a.type === "dyn" ? filled(`[A].filter(m, type(m) == ${type})[0]`, { A: a.cel, B: b.cel }) : a.cel;
    return known(shared(checked, scope, fill(template, { B: b.cel })), "dyn", { nullable: true });
  }),
  declare("not_null", "any...", (_a, _b, { all, scope }) => firstPresent(all, scope)),
  declare("reverse", "array|string", (a, _, { scope }) => {
    // Functions with several signatures don't work on the items of a list of a type that is not known, which this is without `dyn`.
    const text = byType(a, scope, fill("dyn(A.reverse())", {}), fill('A.split("").reverse().join()', {}));
    return known(text, a.type, withItems(a.items));
  }),
  // A sorted list of unknown items would count as one of numbers.
  declare("sort", "array", (a) => known(filled("dyn(A.sort())", { A: a.cel }), "list", withItems(a.items))),
  declare("sort_by", "array, &", (a, _, call) =>
    known(sortedBy(a, "dyn(A.sortBy(E, K))", call), "list", { fails: true, ...withItems(a.items) }),
  ),
  extreme("max", "last"),
  extreme("min", "first"),
  ...(["max_by", "min_by"] as const).map((name) =>
    declare(name, "array, &", (a, _, call) => {
      // The first one of equal items counts.
      const template = name === "min_by" ? "A.sortBy(E, K).first()" : "A.reverse().sortBy(E, K).last()";
      return known(sortedBy(a, `${template}.orValue(null)`, call), "dyn", { nullable: true, fails: true });
    }),
  ),
  declare("map", "&, array", (_, b, { scope, by }) => {
    const { name } = loopOf(scope);
    const { cel: made, type, nullable, fails } = by(itemOf(b, cel.primary(name)));
    const list = b.type === "dyn" ? demanded(b.cel, "list") : b.cel;
    return known(cel.loop(list, "map", name, made), "list", { fails, items: { type, nullable, fails } });
  }),
  declare("to_array", "any", (a, _, { scope }) => {
    if (!a.nullable && a.type !== "dyn") return a.type === "list" ? a : known(cel.list([a.cel]), "list");
    const text = shared(a.cel, scope, fill("type(A) == list ? A : [A]", {}));
    return known(text, "list", a.type === "list" ? { items: itemsOf("dyn", true) } : {});
  }),
  declare("to_string", "any", (a, _, { scope }) => known(toText(a, scope), "string")),
  declare("type", "any", (a, _, { scope }) => typeName(a, scope)),
];
