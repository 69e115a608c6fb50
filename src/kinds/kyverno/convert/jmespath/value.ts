/** Values of queries: how CEL reads their members and items, and what counts as true. */
import { stringifyJson } from "../../../../data/json.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { Shape } from "../pattern/shape.js";
import { loopOf, type Scope } from "../scope.js";
import type { Term } from "../term.js";

/** A value, while a query is converted. */
export interface Value extends Term {
  /** The value where it is known to be there. */
  readonly sure?: Cel;
  /** The same, but an error where it is not made of a list or map: loops and `size` take both. */
  readonly checked?: Cel;
  /** Whether its evaluation may fail for another reason than a missing key. */
  readonly breaks?: boolean;
  /** Whether it is there: shorter than a test of `optional`. */
  readonly present?: Cel;
  /** Of a member of an item: the item as an optional value, and the way from the item to the member. */
  readonly inside?: { readonly item: Cel; readonly path: (item: Cel) => Cel };
  /** Of a list that is made of another one: whether that one is a list. */
  readonly there?: Cel;
  /** Whether it is a list that a projection made: its items may be lists. */
  readonly projected?: boolean;
  /** Its members, where they are not those of an object. */
  readonly member?: (key: string) => Value;
  /** A member by an expression of its name. */
  readonly memberBy?: (key: Cel) => Value;
  /** The values of its members, as a list. */
  readonly values?: Value;
  /** Whether it stands for each of the values of a map. */
  readonly isAny?: boolean;
  /** Of a list: what its items stand for. */
  readonly each?: (item: Cel) => Value;
  /** {@link member} of a variable that holds the value. */
  readonly again?: (value: Cel) => (key: string) => Value;
  /** Whether it is taken to be of the type that is asked for: an error where it is not, as in Kyverno. */
  readonly trusted?: boolean;
}

const EMPTY_LIST = cel.list([]);
const NUMBERS: ReadonlySet<string> = new Set(["double", "int", "number"]);
const SCALARS: ReadonlySet<string> = new Set([...NUMBERS, "bool", "null", "scalar", "string"]);

/** The value of an expression of which no more is known than is said. */
export const known = (text: Cel, type: Term["type"] = "dyn", more: Partial<Value> = {}): Value => ({
  cel: text,
  type,
  nullable: false,
  fails: false,
  ...more,
});

const TYPES: Readonly<Record<string, Term["type"]>> = { string: "string", boolean: "bool", undefined: "null" };

export function constant(value: unknown): Value {
  const scalar = value === null ? "null" : (TYPES[typeof value] ?? "number");
  const type = Array.isArray(value) ? "list" : isObject(value) ? "map" : scalar;
  const [first, ...others] = Array.isArray(value)
    ? [...new Set(value.map((item: unknown) => constant(item).type))]
    : [];
  const items =
    first === undefined || others.length > 0 ? {} : { items: { type: first, nullable: false, fails: false } };
  return known(cel.literal(value), type, { nullable: type === "null", constant: { value: value ?? null }, ...items });
}

/** The value where a missing key is null: inside of functions, comparisons, `||`, projections and behind pipes. */
export function lenient(value: Value): Value {
  const { optional, present, type, sure = value.cel } = value;
  const soft = { ...value, sure, nullable: true, fails: value.breaks === true };
  if (optional !== undefined) return { ...soft, cel: cel.orValue(optional, cel.NULL) };
  if (present === undefined || (type === "list" && value.nullable)) return value;
  return { ...soft, cel: cel.conditional(present, cel.call("dyn", value.cel), cel.NULL) };
}

/** The knowledge that a part of a value takes over from it. */
const broken = ({ breaks, fails, optional }: Value): { readonly breaks?: true } =>
  breaks === true || (fails && optional === undefined) ? { breaks: true } : {};

/** The null that a part of a value is which has no such parts; an error where the value itself is one. */
const nothingOf = (value: Value): Value =>
  broken(value).breaks
    ? known(cel.item(cel.loop(cel.list([value.cel]), "map", "n", cel.NULL), 0), "null", { nullable: true, fails: true })
    : constant(null);

/** An expression that uses a value more than once. */
export function shared(value: Cel, scope: Scope, use: (value: Cel) => Cel): Cel {
  if (value.text.length <= 30) return use(value);
  if (scope.depth === 0 && !scope.inline) return use(scope.draft.variable("value", value, []));
  const { name } = loopOf(scope, "v");
  return cel.call("cel.bind", cel.primary(name), value, use(cel.primary(name)));
}

/** A member, of the type that the schema tells. @param key its name, or an expression of it */
export function memberOf(value: Value, key: Cel | string, scope: Scope): Value {
  const made = plainMember(value, key, scope);
  return shaped(made, typeof key === "string" ? value.shape?.member(key) : undefined);
}

/** The value with what a schema tells about it: the API server drops null where a field has a type. */
export function shaped(value: Value, shape: Shape | undefined): Value {
  if (shape === undefined || value.constant !== undefined) return value;
  const type = shape.type === "quantity" ? "scalar" : (shape.type ?? "dyn");
  if (value.type !== "dyn" || type === "dyn") return { ...value, shape };
  const { optional } = value;
  const { cel: _, ...items } = shaped(known(cel.NULL), shape.items);
  return {
    ...value,
    shape,
    type,
    nullable: value.nullable && (!value.fails || value.inside !== undefined),
    ...(type === "list" && optional !== undefined && { orEmpty: cel.orValue(optional, EMPTY_LIST) }),
    ...(shape.items !== undefined && { items }),
  };
}

function plainMember(value: Value, key: Cel | string, scope: Scope): Value {
  if (typeof key === "string" && value.member !== undefined) return value.member(key);
  if (typeof key !== "string" && value.memberBy !== undefined) return value.memberBy(key);
  if (value.constant !== undefined) {
    const { value: map } = value.constant;
    // Texts about a value of any type don't compile for a map of one type.
    if (typeof key !== "string") return memberOf(known(cel.call("dyn", value.cel), "map"), key, scope);
    return constant(isObject(map) && Object.hasOwn(map, key) ? map[key] : null);
  }
  if (SCALARS.has(value.type) || value.type === "list") return nothingOf(value);
  const strict = (target: Cel): Cel => (typeof key === "string" ? cel.member(target, key) : cel.item(target, key));
  const optional =
    value.optional !== undefined
      ? strict(value.optional)
      : typeof key === "string"
        ? cel.optionalMember(value.cel, key)
        : cel.optionalItem(value.cel, key);
  const made = { optional, sure: strict(value.sure ?? value.cel), nullable: true, fails: true, ...broken(value) };
  if (value.inside !== undefined) {
    const { item, path } = value.inside;
    const { name } = loopOf(scope);
    const inside = { item, path: (each: Cel) => strict(path(each)) };
    const mapped = cel.method(item, "optMap", cel.primary(name), inside.path(cel.primary(name)));
    return known(cel.orValue(mapped, cel.NULL), "dyn", { ...made, inside });
  }
  if (value.optional === undefined && value.nullable)
    return known(
      shared(value.cel, scope, (map) => cel.conditional(cel.equal(map, cel.NULL), cel.NULL, strict(map))),
      "dyn",
      made,
    );
  const isCertain = value.optional === undefined && typeof key === "string";
  return known(strict(value.cel), "dyn", { ...made, ...(isCertain && { present: cel.has(value.cel, key) }) });
}

/** An item of a list; null where there is none. */
export function itemOf(value: Value, index: number, scope: Scope): Value {
  if (value.constant !== undefined) {
    const { value: list } = value.constant;
    return constant(Array.isArray(list) ? list.at(index) : null);
  }
  if (SCALARS.has(value.type) || value.type === "map") return nothingOf(value);
  const { type = "dyn", items, shape } = value.items ?? {};
  const list = value.sure ?? value.cel;
  const sure = index >= 0 ? cel.item(list, index) : cel.method(itemAt(list, index), "value");
  const isMade = value.optional === undefined;
  const item = itemAt(isMade ? (value.orEmpty ?? value.cel) : value.cel, index);
  const inside = { item, path: (each: Cel) => each };
  const common = {
    nullable: true,
    sure,
    inside,
    ...broken(value),
    ...(items !== undefined && { items }),
    ...(shape && { shape }),
  };
  if (isMade) return known(cel.orValue(item, cel.NULL), type, { ...common, optional: item, fails: value.fails });
  const name = cel.primary(loopOf(scope, "l").name);
  const optional =
    index >= 0 ? cel.item(value.optional, index) : cel.method(value.optional, "optFlatMap", name, itemAt(name, index));
  return known(cel.orValue(item, cel.NULL), type, { ...common, optional, fails: value.fails });
}

function itemAt(list: Cel, index: number): Cel {
  if (index >= 0) return cel.optionalItem(list, index);
  if (index === -1) return cel.method(list, "last");
  return cel.optionalItem(list, cel.minus(cel.call("size", list), cel.literal(-index)));
}

/**
 * Changes a list, or the values of a map: null where there is none.
 * @param change the new list, made of the old one
 */
export function changed(
  value: Value,
  type: "list" | "map",
  scope: Scope,
  change: (list: Cel) => Cel,
  more: Partial<Value> = {},
): Value {
  if (value.type !== type && (SCALARS.has(value.type) || value.type === "list" || value.type === "map"))
    return nothingOf(value);
  if ((value.type === type || value.trusted) && !value.nullable && value.optional === undefined)
    return known(change(value.cel), "list", { fails: value.fails, ...more });
  const none = type === "list" ? EMPTY_LIST : cel.map([]);
  const { optional } = value;
  if (optional === undefined && value.there === undefined) {
    const or = (otherwise: Cel): Cel =>
      shared(value.cel, scope, (list) =>
        cel.conditional(cel.isType(list, type), cel.call("dyn", change(list)), otherwise),
      );
    return known(or(cel.NULL), "list", { nullable: true, fails: value.fails, orEmpty: or(EMPTY_LIST), ...more });
  }
  const old = value.sure ?? value.cel;
  const sure = change(old);
  const whole = optional === undefined ? value.cel : cel.orValue(optional, cel.NULL);
  const isKnown = value.type === type && optional !== undefined;
  const isCertain = value.type === type || value.trusted === true || MAPS.test((optional ?? value.cel).text);
  const demand = (each: Cel): Cel => (isCertain ? each : demanded(each, type));
  const checked = isCertain && value.checked === undefined ? {} : { checked: change(value.checked ?? demand(old)) };
  const given = optional === undefined ? whole : cel.orValue(optional, none);
  const made = change(value.orEmpty ?? (optional === undefined || type === "map" ? given : demand(given)));
  const orEmpty = { ...made, text: made.text.replace(NEEDLESS, "$1") };
  const present =
    value.present ?? (optional === undefined ? cel.isType(whole, type) : cel.method(optional, "hasValue"));
  const there = value.there ?? (isKnown ? present : cel.isType(whole, type));
  const { breaks } = broken(value);
  const common = {
    nullable: true,
    ...(breaks && { breaks, fails: breaks }),
    orEmpty,
    sure,
    present,
    ...checked,
    ...more,
  };
  const isSame = sure.text === old.text && optional !== undefined;
  const text = isSame && isKnown ? value.cel : cel.conditional(there, isSame ? sure : cel.call("dyn", sure), cel.NULL);
  return known(text, "list", { ...common, there, ...(isSame && isKnown && { optional }) });
}

/** A demand that is not needed: keys of a map have no members, so that a loop that asks for one fails, or finds nothing. */
const NEEDLESS =
  /^\((\S+) \+ dyn\(\[\]\)\)(?=\.(?:map|filter)\((\w+), (?:has\(\2\.|\2\.\?\w+\.orValue\(""\) == "[^"]|!\(\2\.\?\w+\.orValue\(null\) in variables))/;

/** Fields that are maps in objects of any kind. */
export const MAPS = /\.\??(?:metadata|spec|status|data|labels|annotations|matchLabels)$/;

/** The value, or an error where it is of another type: loops go through the keys of a map, too, and maps have a size. */
export const demanded = (value: Cel, type: "list" | "map"): Cel =>
  type === "list"
    ? cel.plus(value, cel.call("dyn", EMPTY_LIST))
    : cel.item(cel.loop(cel.list([value]), "filter", "m", cel.isType(cel.primary("m"), type)), 0);

/** The values that count as false. */
const FALSY = cel.list(
  [cel.NULL, cel.FALSE, cel.literal(""), EMPTY_LIST, cel.map([])].map((each) => cel.call("dyn", each)),
);

const isFalsy = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Whether a value counts as false: `false`, null, `""`, `[]` and `{}` do, 0 does not. */
export const falsy = (value: Value, scope: Scope): Cel => counts(value, false, scope);

/** Whether a value counts as true. */
export const truthy = (value: Value, scope: Scope): Cel => counts(value, true, scope);

function counts(value: Value, as: boolean, scope: Scope): Cel {
  const { type, optional, nullable, orEmpty, truth, constant: only } = value;
  if (only !== undefined) return cel.literal(isFalsy(only.value) !== as);
  if (truth !== undefined) return as ? truth : cel.not(truth);
  const isSure = !nullable && optional === undefined;
  const is = (left: Cel, none: Cel): Cel => cel.relation(as ? "!=" : "==", left, none);
  if (NUMBERS.has(type)) return isSure ? cel.literal(as) : is(value.cel, cel.NULL);
  if (type === "map" && optional !== undefined) return is(cel.orValue(optional, cel.map([])), cel.map([]));
  if (type === "string" && (isSure || optional !== undefined))
    return is(optional === undefined ? value.cel : cel.orValue(optional, cel.literal("")), cel.literal(""));
  if (type === "bool" && !isSure) return cel.relation(as ? "==" : "!=", value.cel, cel.TRUE);
  if (type === "bool") return as ? value.cel : cel.not(value.cel);
  if (type === "list" && (isSure || orEmpty !== undefined))
    return is(cel.call("size", orEmpty ?? value.cel), cel.literal(0));
  if (type === "map" && isSure) return is(value.cel, cel.map([]));
  const isEmpty = cel.relation("in", value.cel, scope.inline ? FALSY : scope.draft.variable("empty", FALSY, []));
  return as ? cel.not(isEmpty) : isEmpty;
}

/** The knowledge about the parts of a value. */
export const about = (value: Pick<Term, "items" | "shape"> = {}): Partial<Value> => ({
  ...(value.items !== undefined && { items: value.items }),
  ...(value.shape !== undefined && { shape: value.shape }),
});

export const isNumber = (value: Term): boolean => NUMBERS.has(value.type);

/** A value inside of text. */
export function printed({ cel: whole, sure = whole, type, nullable, fails, constant: only }: Value): Value {
  if (only !== undefined) return constant(typeof only.value === "string" ? only.value : stringifyJson(only.value));
  if (type === "string" && !nullable) return known(whole, type, { fails });
  if (type === "list" || type === "map") return known(cel.call("json.marshal", whole), "string", { fails });
  // null has no text.
  return known(type === "string" ? sure : cel.call("string", sure), "string", { fails: true });
}

/** `==` or `!=`. */
export function equal(operator: "!=" | "==", left: Value, right: Value): Cel {
  if (left.constant !== undefined && right.constant === undefined) return equal(operator, right, left);
  const isText = typeof right.constant?.value === "string" && right.constant.value !== "";
  const isMixed = left.type !== right.type && left.type !== "dyn" && right.type !== "dyn";
  const [a, b] = [left, right].map(({ cel: text }) => (isMixed ? cel.call("dyn", text) : text)) as [Cel, Cel];
  return isText && left.optional !== undefined
    ? cel.relation(operator, cel.orValue(left.optional, cel.literal("")), right.cel)
    : cel.relation(operator, a, b);
}

/** A selection of null is null; a path that is not there is an error before. */
export function selected(current: Value, made: Value): Value {
  if (!current.nullable || (current.fails && current.inside === undefined)) return made;
  const text = cel.conditional(cel.equal(current.cel, cel.NULL), cel.NULL, cel.call("dyn", made.cel));
  return { ...made, cel: text, nullable: true };
}

export function multiList(items: readonly Value[]): Value {
  const constants = items.map((item) => item.constant);
  if (constants.every((each) => each !== undefined)) return constant(constants.map((each) => each.value));
  const nullable = items.some((item) => item.nullable);
  const text = cel.list(items.map((item) => cel.call("dyn", item.cel)));
  const fails = items.some((item) => item.fails);
  return known(text, "list", { fails, ...(nullable && { items: { type: "dyn", nullable, fails: false } }) });
}

export function multiHash(entries: ReadonlyMap<string, Value>): Value {
  const text = cel.map([...entries].map(([key, value]) => [key, cel.call("dyn", value.cel)]));
  const fails = [...entries.values()].some((value) => value.fails);
  return known(text, "map", { fails, member: (key) => entries.get(key) ?? constant(null) });
}
