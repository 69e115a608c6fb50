/** Functions of lists, maps and of values of any type. */

import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import { loopOf, type Scope } from "../../scope.js";
import type { Term } from "../../term.js";
import { constant, isNumber, known, shared, type Value } from "../value.js";
import { declare, knownText, unusedName, type Writer } from "./declare.js";

const dyn = (value: Cel): Cel => cel.call("dyn", value);
const ofItems = (items: Term["items"]): Partial<Value> => (items === undefined ? {} : { items });
type Item = NonNullable<Term["items"]>;
const STRINGS: Item = { type: "string", nullable: false, fails: false };
const LATER: Item = { type: "dyn", nullable: true, fails: false };

/** The keys of a map. */
function keysOf(map: Cel): Cel {
  const key = unusedName("k", map);
  return cel.loop(map, "map", key.text, key);
}

/** An item of a list, or a part of a text; anything else than a text is in no text. */
function contains(a: Value, b: Value, scope: Scope): Cel {
  const isText = b.type === "string" && !b.nullable;
  const inText = (value: Cel): Cel =>
    cel.and(isText ? cel.TRUE : cel.isType(b.cel, "string"), cel.method(value, "contains", b.cel));
  if (a.keysOf !== undefined && isText) return cel.relation("in", b.cel, a.keysOf);
  if (a.type === "string" || a.type === "scalar")
    return isText || b.type === "dyn" || b.type === "scalar" ? inText(a.cel) : cel.FALSE;
  const { type } = a.items ?? (Array.isArray(a.constant?.value) ? constant(a.constant.value[0]) : LATER);
  const isOther = type !== "dyn" && b.type !== "dyn" && b.type !== type;
  const inList = (value: Cel): Cel => cel.relation("in", isOther ? dyn(b.cel) : b.cel, value);
  if (a.type === "list") return inList(a.cel);
  return shared(a.cel, scope, (value) =>
    cel.conditional(
      cel.isType(value, "list"),
      inList(value),
      b.constant === undefined || isText ? inText(value) : cel.FALSE,
    ),
  );
}

/** A list of the entries of a map, in the order of the keys, or of the items of a list with their indexes. */
function items(a: Value, keyName: string, valueName: string, scope: Scope): Cel {
  const entry = (key: Cel, value: Cel): Cel =>
    cel.map([
      [keyName, dyn(key)],
      [valueName, dyn(value)],
    ]);
  const ofMap = (map: Cel): Cel => {
    const key = unusedName("k", map);
    return cel.loop(cel.method(keysOf(map), "sort"), "map", key.text, entry(key, cel.item(map, key)));
  };
  const ofList = (list: Cel): Cel => {
    const [index, value] = [unusedName("i", list), unusedName("v", list)];
    return cel.method(list, "transformList", index, value, entry(index, value));
  };
  if (a.type === "map") return ofMap(a.cel);
  if (a.type === "list") return ofList(a.cel);
  return shared(a.cel, scope, (value) => cel.conditional(cel.isType(value, "list"), ofList(value), ofMap(value)));
}

/** All entries of maps: a later map decides about a key. */
function merged(maps: readonly Value[]): Cel {
  const parts = maps.map((map) => (map.constant === undefined ? map.cel : dyn(map.cel)));
  const [first, ...others] = parts;
  if (first === undefined || others.length === 0) return first ?? cel.NULL;
  const key = unusedName("k", ...parts);
  const value = others.reduce(
    (otherwise, map) => cel.conditional(cel.relation("in", key, map), cel.item(map, key), otherwise),
    cel.item(first, key),
  );
  const keys = cel.method(cel.plus(...parts.map(keysOf)), "distinct");
  return cel.method(
    keys,
    "transformMapEntry",
    unusedName("i", ...parts),
    key,
    cel.primary(`{${key.text}: ${value.text}}`),
  );
}

/** A map of keys and values, which are null where there are fewer; the last of equal keys decides. */
function objectOf(keys: Cel, values: Cel): Cel {
  const [index, key] = [unusedName("i", keys, values), unusedName("k", keys, values)];
  const value = cel.orValue(cel.optionalItem(values, cel.method(keys, "lastIndexOf", key)), cel.NULL);
  return cel.method(
    dyn(cel.method(keys, "distinct")),
    "transformMapEntry",
    index,
    key,
    cel.primary(`{${cel.call("string", key).text}: ${value.text}}`),
  );
}

/** The first value that is not null. */
function firstPresent(values: readonly Value[], scope: Scope): Value {
  const [first, ...others] = values;
  if (first === undefined) return constant(null);
  if (!first.nullable || others.length === 0) return first;
  const rest = firstPresent(others, scope);
  if (first.type === "null") return rest;
  const text = shared(first.cel, scope, (value) =>
    cel.conditional(cel.relation("!=", value, cel.NULL), value, rest.cel),
  );
  return known(text, first.type === rest.type ? first.type : "dyn", { nullable: rest.nullable });
}

/** The least or the greatest item of a list of numbers or of one of texts; null where it is empty. */
function extreme(name: "max" | "min", list: Value, scope: Scope): Value {
  const { items } = list;
  const more = { nullable: true, ...ofItems(items?.items) };
  if (items !== undefined && isNumber({ ...items, cel: list.cel }))
    return known(
      shared(list.cel, scope, (value) =>
        cel.conditional(cel.equal(value, cel.list([])), cel.NULL, dyn(cel.method(value, name))),
      ),
      items.type,
      more,
    );
  const end = cel.method(cel.method(list.cel, "sort"), name === "max" ? "last" : "first");
  return known(cel.orValue(end, cel.NULL), items?.type ?? "dyn", more);
}

/** A list in the order of what a reference makes of its items. */
function sortedBy(list: Value, target: Cel, { scope, by }: Parameters<Writer>[2]): Cel {
  const name = cel.primary(loopOf(scope).name);
  const key: Value = by(itemOf(list, name));
  return cel.method(target, "sortBy", name, key.sure ?? key.cel);
}

const itemOf = ({ items }: Value, name: Cel): Value => known(name, items?.type ?? "dyn", ofItems(items?.items));

const TYPE_NAMES = { string: "string", number: "number", bool: "boolean", list: "array", map: "object", null: "null" };

/** JMESPath's name of a value's type. */
function typeName(value: Value, scope: Scope): Value {
  const type = isNumber(value) ? "number" : value.type;
  if (!value.nullable && type !== "dyn" && type !== "scalar")
    return constant(TYPE_NAMES[type as keyof typeof TYPE_NAMES]);
  const names = [
    ["number", "int", "double"],
    ["boolean", "bool"],
    ["array", "list"],
    ["object", "map"],
  ] as const;
  const text = shared(value.cel, scope, (of) =>
    [...names, ["string", "string"] as const].reduce(
      (otherwise, [name, ...types]) => cel.conditional(cel.isType(of, ...types), cel.literal(name), otherwise),
      cel.literal("null"),
    ),
  );
  return known(text, "string");
}

function toText(value: Value, scope: Scope): Cel {
  const json = (of: Cel): Cel => cel.call("json.marshal", of);
  if (value.nullable || ["double", "dyn", "list", "map", "null", "number"].includes(value.type))
    return value.type === "dyn" || value.type === "string"
      ? shared(value.cel, scope, (of) => cel.conditional(cel.isType(of, "string"), of, json(of)))
      : json(value.cel);
  return value.type === "string" ? value.cel : cel.call("string", value.cel);
}

/** The value of a key or index that is computed; null where there is none. */
function lookUp(a: Value, key: Value): Cel {
  if (a.type === "list" && key.type === "string")
    throw new NotConverted([], "lookup needs a number for a list: an error in Kyverno always");
  const name = key.constant?.value;
  const optional = typeof name === "string" ? cel.optionalMember(a.cel, name) : cel.optionalItem(a.cel, key.cel);
  return cel.orValue(optional, cel.NULL);
}

/** `a` is a selector that matches the labels `b`. */
function labelsMatch(a: Cel, b: Cel): Cel {
  const key = unusedName("k", a, b);
  const isEqual = cel.equal(cel.item(b, key), cel.item(a, key));
  return cel.loop(a, "all", key.text, cel.and(cel.relation("in", key, b), isEqual));
}

export const LIST_FUNCTIONS = [
  declare("length", "string|array|object", (a) => known(cel.call("size", a.keysOf ?? a.cel), "int")),
  declare("contains", "array|string, any", (a, b, { scope }) => known(contains(a, b, scope), "bool")),
  declare("keys", "object", (a) => known(keysOf(a.cel), "list", { items: STRINGS, keysOf: a.cel })),
  declare("values", "object", (a) => {
    const key = unusedName("k", a.cel);
    return known(cel.loop(a.cel, "map", key.text, cel.item(a.cel, key)), "list");
  }),
  declare("items", "object|array, string, string", (a, b, { c, scope }) => {
    const [key, value] = [knownText("items", b, "the name of keys"), knownText("items", c, "the name of values")];
    return known(items(a, key, value, scope), "list", { items: { type: "map", nullable: false, fails: false } });
  }),
  declare("object_from_lists", "array, array", (a, b) => known(objectOf(a.cel, b.cel), "map")),
  declare("merge", "object...", (_a, _b, { all }) => known(merged(all), "map")),
  declare("label_match", "object, object", (a, b) => known(labelsMatch(a.cel, b.cel), "bool")),
  declare("lookup", "object|array, string|number", (a, b) => known(lookUp(a, b), "dyn", { nullable: true })),
  declare("not_null", "any...", (_a, _b, { all, scope }) => firstPresent(all, scope)),
  declare("reverse", "array|string", (a, _, { scope }) => {
    // Functions with several signatures don't work on the items of a list of a type that is not known, which this is without `dyn`.
    const list = (value: Cel): Cel => dyn(cel.method(value, "reverse"));
    const text = (value: Cel): Cel =>
      cel.method(cel.method(cel.method(value, "split", cel.literal("")), "reverse"), "join");
    if (a.type === "list") return known(list(a.cel), "list", ofItems(a.items));
    if (a.type === "string") return known(text(a.cel), "string");
    return known(shared(a.cel, scope, (of) => cel.conditional(cel.isType(of, "list"), list(of), text(of))));
  }),
  // A sorted list of unknown items would count as one of numbers.
  declare("sort", "array", (a) => known(cel.call("dyn", cel.method(a.cel, "sort")), "list", ofItems(a.items))),
  declare("sort_by", "array, &", (a, _, call) =>
    known(sortedBy(a, a.cel, call), "list", { fails: true, ...ofItems(a.items) }),
  ),
  declare("max", "array", (a, _, { scope }) => extreme("max", a, scope)),
  declare("min", "array", (a, _, { scope }) => extreme("min", a, scope)),
  declare("max_by", "array, &", (a, _, call) => {
    const last = cel.method(sortedBy(a, cel.method(a.cel, "reverse"), call), "last");
    return known(cel.orValue(last, cel.NULL), "dyn", { nullable: true, fails: true });
  }),
  declare("min_by", "array, &", (a, _, call) => {
    const first = cel.method(sortedBy(a, a.cel, call), "first");
    return known(cel.orValue(first, cel.NULL), "dyn", { nullable: true, fails: true });
  }),
  declare("map", "&, array", (_, b, { scope, by }) => {
    const { name } = loopOf(scope);
    const { cel: made, type, nullable, fails } = by(itemOf(b, cel.primary(name)));
    return known(cel.loop(b.cel, "map", name, made), "list", { fails, items: { type, nullable, fails } });
  }),
  declare("to_array", "any", (a, _, { scope }) => {
    if (!a.nullable && a.type !== "dyn") return a.type === "list" ? a : known(cel.list([a.cel]), "list");
    const text = shared(a.cel, scope, (of) => cel.conditional(cel.isType(of, "list"), of, cel.list([of])));
    return known(text, "list", ofItems(a.type === "list" ? LATER : undefined));
  }),
  declare("to_string", "any", (a, _, { scope }) => known(toText(a, scope), "string")),
  declare("type", "any", (a, _, { scope }) => typeName(a, scope)),
];
